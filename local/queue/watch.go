package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// DeadLetter is a message that failed in all its tries.
type DeadLetter struct {
	Message events.SQSMessage
	Reason  string // why the last try failed
}

// Counts says how many messages are in each state.
type Counts struct {
	Visible  int // could be received now
	InFlight int // received, neither deleted nor given back
	Delayed  int // wait for a delay or a back-off to end
	Dead     int // dead letters so far
}

// Counts returns how many messages are in each state.
func (q *Queue) Counts() Counts {
	now := q.options.Clock.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	c := Counts{Dead: q.deaths}
	for _, it := range q.agenda {
		switch {
		case !it.due.After(now):
			c.Visible++
		case it.receipt != "":
			c.InFlight++
		default:
			c.Delayed++
		}
	}
	return c
}

// Dead returns the newest dead letters, at most 1,000, oldest first.
func (q *Queue) Dead() []DeadLetter {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]DeadLetter(nil), q.dead...)
}

// Wait returns once no message is visible, delayed or in flight, or with the
// context's error.
func (q *Queue) Wait(ctx context.Context) error {
	for {
		q.mu.Lock()
		empty, changed := len(q.agenda) == 0, q.changed
		q.mu.Unlock()
		if empty {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("queue %s is not empty: %w", q.options.Name, context.Cause(ctx))
		}
	}
}

// upcoming returns how long until a message is visible, false when there is
// none, and a channel that closes when that may have changed.
func (q *Queue) upcoming() (time.Duration, bool, <-chan struct{}) {
	now := q.options.Clock.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.agenda) == 0 {
		return 0, false, q.changed
	}
	return q.agenda[0].due.Sub(now), true, q.changed
}

// sentSoFar returns how many messages were ever sent.
func (q *Queue) sentSoFar() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sent
}
