package queue

import (
	"context"
	"fmt"
	"time"
)

// Set is the queues of one machine by name.
type Set map[string]*Queue

// Send puts a message into the queue of that name; see Queue.Send.
func (s Set) Send(_ context.Context, queue string, body []byte, delay time.Duration) error {
	q, ok := s[queue]
	if !ok {
		return fmt.Errorf("cannot send to queue %s: there is none of that name", queue)
	}
	_, err := q.Send(string(body), delay)
	return err
}

// Wait returns once all queues are empty at the same time, or with the
// context's error. A function that sends before its own message is deleted
// keeps the set from looking empty.
func (s Set) Wait(ctx context.Context) error {
	for {
		before := s.sentSoFar()
		for _, q := range s {
			if err := q.Wait(ctx); err != nil {
				return err
			}
		}
		// Each queue was empty once, and none has been sent to since before.
		if s.sentSoFar() == before {
			return nil
		}
	}
}

func (s Set) sentSoFar() uint64 {
	var sum uint64
	for _, q := range s {
		sum += q.sentSoFar()
	}
	return sum
}
