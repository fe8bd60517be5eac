package limit

import (
	"context"
	"time"
)

// turn is the place of a request in a queue: the request is worked on.
type turn struct {
	queue   *queue
	client  *client
	began   time.Time
	charged int  // effort by which begin has advanced the clock of the client; leave corrects it
	hasLeft bool // whether leave was called; protected by queue.mu
}

// leave gives up the place of the request, charges the client for its effort, and begins the next waiting request.
// Further calls do nothing.
func (t *turn) leave(effort int) {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.hasLeft {
		return
	}
	t.hasLeft = true
	t.client.clock += effort - t.charged
	q.usual += (effort - q.usual) / weightMean
	q.mean += (max(0, q.options.Now().Sub(t.began)) - q.mean) / weightMean
	t.client.working--
	q.Working--
	q.next()
	if q.Working == 0 {
		close(q.idle)
		q.idle = nil
	}
}

// sending records that the answer to the request is being sent from now on, if begun is true, or that it was
// sent in full.
func (t *turn) sending(begun bool) {
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	if begun {
		t.client.sending++
	} else {
		t.client.sending--
	}
}

// waitIdle waits until no request is worked on in the queue, but at most for the given time. Its error is that of
// ctx if ctx ends earlier.
func (q *queue) waitIdle(ctx context.Context, most time.Duration) error {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
	case <-q.options.After(most):
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
