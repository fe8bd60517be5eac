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

// firstBackoff is the time from the first failure of a message until the message is visible
// again. The time doubles with each further failure.
const firstBackoff = 100 * time.Millisecond

// Options are the settings of a queue.
type Options struct {
	Name        string
	Visibility  time.Duration // time after a receive until the message is visible again, if it is not deleted
	MaxReceives int           // number of failed receives after which a message becomes a dead letter; at least 1
	Chaos       *Chaos        // disturbs the deliveries; nil: they are not disturbed
	// Dead, if not nil, is called for every dead letter, by the goroutine that called Fail or
	// Receive. Dead may use the queue.
	Dead func(message.DeadLetter)
}

// Queue is one queue in memory. It is safe for concurrent use.
type Queue struct {
	options Options

	mu      sync.Mutex       // protects the fields below
	due     dueHeap          // all messages, except deleted ones and dead letters
	held    map[string]*item // messages in flight, by receipt handle
	sent    uint64           // number of messages sent so far
	copies  uint64           // number of items made so far, one for each copy of a message
	deaths  int              // number of dead letters so far
	changed chan struct{}    // closed when the field due changes; a new channel then takes its place
}

// New returns an empty queue.
func New(options Options) *Queue {
	return &Queue{options: options, held: map[string]*item{}, changed: make(chan struct{})}
}

// Send puts a message into the queue and returns its id. The message is visible after the
// delay, or after message.MaxDelay if that is shorter. Send fails for a body that SQS would
// refuse: one that is empty, longer than message.MaxBody, or not UTF-8.
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

// Receive returns visible messages, at most as many as the limit. Those that became visible first
// come first. It does not wait for messages. The returned messages are in flight: they become
// visible again after Options.Visibility, unless they are deleted before.
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

// Delete removes a message from the queue, by the receipt handle of its newest receive. It
// does nothing for an older handle.
func (q *Queue) Delete(receipt string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if it, ok := q.held[receipt]; ok {
		q.release(it)
		heap.Remove(&q.due, it.place)
		q.announce()
	}
}

// Fail gives a message back to the queue, because it could not be handled for the given reason. The
// receipt handle must be that of the message's newest receive; for an older handle, Fail does
// nothing. After MaxReceives receives, the message becomes a dead letter. Otherwise it is visible
// again after a back-off: 100 ms, doubled with each further failure, at most Options.Visibility.
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

// report calls Options.Dead with each dead letter. The caller must not hold mu.
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

// release makes the receipt handle of an item invalid, so that the item is no longer in
// flight. The caller holds mu.
func (q *Queue) release(it *item) {
	delete(q.held, it.receipt)
	it.receipt = ""
}

// bury removes an item from the queue and returns it as a dead letter. The caller holds mu.
func (q *Queue) bury(it *item) message.DeadLetter {
	heap.Remove(&q.due, it.place)
	q.deaths++
	q.announce()
	return message.DeadLetter{
		Queue: q.options.Name, Message: it.id, Body: it.body, Reason: it.reason, At: time.Now(), Receives: it.receives,
	}
}

// announce wakes all goroutines that wait for a change of q.due. The caller holds mu.
func (q *Queue) announce() {
	close(q.changed)
	q.changed = make(chan struct{})
}
