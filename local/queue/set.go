package queue

import (
	"context"
	"fmt"
	"time"
)

// Set holds the queues of one machine by name.
type Set map[string]*Queue

// Send puts a message into the queue with the name (see Queue.Send). It fails if there is no
// such queue.
func (s Set) Send(_ context.Context, queue string, body []byte, delay time.Duration) error {
	q, ok := s[queue]
	if !ok {
		return fmt.Errorf("cannot send to queue %s: there is none of that name", queue)
	}
	_, err := q.Send(string(body), delay)
	return err
}
