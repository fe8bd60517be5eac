package queue

import (
	"container/heap"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

const firstBackoff = 100 * time.Millisecond // doubled with each further failure

// Options are the settings of a queue.
type Options struct {
	Name        string
	Visibility  time.Duration // from a receive until the message is visible again
	MaxReceives int           // after so many failed receives a message is a dead letter; at least 1
	Chaos       *Chaos        // nil for a queue at its best
	// Dead is called with every dead letter, by the goroutine that found the message
	// dead; the queue goes on meanwhile. With nil they are only counted.
	Dead func(message.DeadLetter)
}

// Queue is one queue in memory. It is safe for concurrent use.
type Queue struct {
	options Options

	mu      sync.Mutex       // protects all below
	due     dueHeap          // every message that is neither deleted nor dead
	held    map[string]*item // those in flight, by receipt handle
	sent    uint64           // messages ever sent
	copies  uint64           // items ever made
	deaths  int
	changed chan struct{} // closed, and replaced, when the due changes
}

// New returns an empty queue.
func New(options Options) *Queue {
	return &Queue{options: options, held: map[string]*item{}, changed: make(chan struct{})}
}

// Send puts a message into the queue, visible after the delay (at most
// message.MaxDelay, longer ones are cut to it), and returns its id. It fails
// for a body that SQS would refuse: empty, longer than message.MaxBody, or not
// UTF-8.
func (q *Queue) Send(body string, delay time.Duration) (id string, err error) {
	if err := check(body); err != nil {
		return "", fmt.Errorf("cannot send to queue %s: %w", q.options.Name, err)
	}
	delay = min(max(delay, 0), message.MaxDelay)
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent++
	id = q.options.Name + "-" + strconv.FormatUint(q.sent, 10)
	for range q.options.Chaos.copies() {
		q.copies++
		heap.Push(&q.due, &item{
			id: id, body: body, sent: now, number: q.copies,
			due: now.Add(delay + q.options.Chaos.lateness()),
		})
	}
	q.announce()
	return id, nil
}

func check(body string) error {
	switch {
	case body == "":
		return errors.New("the body is empty")
	case len(body) > message.MaxBody:
		return fmt.Errorf("a body of %d bytes is over the limit of %d", len(body), message.MaxBody)
	case !utf8.ValidString(body):
		return errors.New("the body is not UTF-8")
	}
	return nil
}

// Receive takes up to limit visible messages, the one longest due first, and
// hides them for the visibility timeout. It does not wait.
func (q *Queue) Receive(limit int) []events.SQSMessage {
	batch, dead := q.receive(limit)
	q.report(dead...)
	return batch
}

func (q *Queue) receive(limit int) (batch []events.SQSMessage, dead []message.DeadLetter) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(batch) < limit && len(q.due) > 0 && !q.due[0].due.After(now) {
		it := q.due[0]
		if it.receipt != "" {
			it.reason = fmt.Sprintf("its function died without a word: the message was neither deleted nor given back within %v", q.options.Visibility)
			q.release(it)
		}
		if it.receives >= q.options.MaxReceives {
			dead = append(dead, q.bury(it))
			continue
		}
		it.receives++
		it.receipt = fmt.Sprintf("%s/%d/%d", it.id, it.number, it.receives)
		it.due = now.Add(q.options.Visibility)
		heap.Fix(&q.due, it.place)
		q.held[it.receipt] = it
		batch = append(batch, it.deliverable(q.options.Name))
	}
	return batch, dead
}

// Delete removes a message that was dealt with. A receipt handle that a later
// receive has replaced does nothing.
func (q *Queue) Delete(receipt string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if it, ok := q.held[receipt]; ok {
		q.release(it)
		heap.Remove(&q.due, it.place)
		q.announce()
	}
}

// Fail gives a message back: it is visible again after 100 ms, doubled with every failed
// receive, at most the visibility timeout; or it becomes a dead letter with this
// reason. A receipt handle that a later receive has replaced does nothing.
func (q *Queue) Fail(receipt, reason string) {
	if dead, died := q.fail(receipt, reason); died {
		q.report(dead)
	}
}

func (q *Queue) fail(receipt, reason string) (dead message.DeadLetter, died bool) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	it, ok := q.held[receipt]
	if !ok {
		return dead, false
	}
	it.reason = reason
	q.release(it)
	if it.receives >= q.options.MaxReceives {
		return q.bury(it), true
	}
	it.due = now.Add(q.backoff(it.receives) + q.options.Chaos.lateness())
	heap.Fix(&q.due, it.place)
	q.announce()
	return dead, false
}

// report calls Dead. The caller does not hold mu.
func (q *Queue) report(dead ...message.DeadLetter) {
	if q.options.Dead == nil {
		return
	}
	for _, d := range dead {
		q.options.Dead(d)
	}
}

func (q *Queue) backoff(receives int) time.Duration {
	d := firstBackoff
	for i := 1; i < receives && d < q.options.Visibility; i++ {
		d *= 2
	}
	return min(d, q.options.Visibility)
}

// release makes the item available again. The caller holds mu, also in the functions
// below.
func (q *Queue) release(it *item) {
	delete(q.held, it.receipt)
	it.receipt = ""
}

func (q *Queue) bury(it *item) message.DeadLetter {
	heap.Remove(&q.due, it.place)
	q.deaths++
	q.announce()
	return message.DeadLetter{
		Queue: q.options.Name, Message: it.id, Body: it.body, Reason: it.reason, At: time.Now(), Receives: it.receives,
	}
}

func (q *Queue) announce() {
	close(q.changed)
	q.changed = make(chan struct{})
}
