package faults

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/message"
	"github.com/bucketsearch/bucketsearch/functions/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// maxReceives is after how many tries a message is given up.
const maxReceives = 12

// queue holds the messages of all functions. What is sent first is delivered
// first, once it is due.
type queue struct {
	now    func() time.Time
	copies int  // of each message that is sent
	newest bool // what was sent last is delivered first

	mu      sync.Mutex // protects all below
	waiting []waiting
	dead    int
}

type waiting struct {
	function string
	body     string
	due      time.Time
	receives int
}

// Send implements task.Sender.
func (q *queue) Send(_ context.Context, function string, body []byte, delay time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for range q.copies {
		q.waiting = append(q.waiting, waiting{function: function, body: string(body), due: q.now().Add(delay)})
	}
	return nil
}

// take removes the next message that is due.
func (q *queue) take() (waiting, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, i := q.now(), -1
	for n, m := range q.waiting {
		if !m.due.After(now) && (i < 0 || q.newest) {
			i = n
		}
	}
	if i < 0 {
		return waiting{}, false
	}
	m := q.waiting[i]
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return m, true
}

// giveBack has a message that failed come again, later and later.
func (q *queue) giveBack(m waiting) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if m.receives++; m.receives == maxReceives {
		q.dead++
		return
	}
	m.due = q.now().Add(time.Second << min(m.receives-1, 5))
	q.waiting = append(q.waiting, m)
}

// next returns when the next message is due, false when there is none.
func (q *queue) next() (next time.Time, found bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.waiting {
		if !found || m.due.Before(next) {
			next, found = m.due, true
		}
	}
	return next, found
}

func (q *queue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = nil
}

// event is the message as Lambda delivers it.
func (m waiting) event() events.SQSEvent {
	return events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: m.function, Body: m.body,
		Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.receives + 1)},
	}}}
}

// raising is a bucket that raises events, as S3 does.
type raising struct {
	blob.Bucket
	queue *queue
}

// Create implements blob.Bucket.
func (r raising) Create(ctx context.Context, key string, content []byte) error {
	if err := r.Bucket.Create(ctx, key, content); err != nil {
		return err
	}
	for prefix, function := range map[string]string{layout.Spool: task.Pack, layout.Packages: task.Index} {
		if strings.HasPrefix(key, prefix) {
			return r.queue.Send(ctx, function, message.S3Event("test", key, int64(len(content)), r.queue.now()), 0)
		}
	}
	return nil
}
