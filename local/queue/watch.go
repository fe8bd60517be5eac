package queue

import "time"

// Counts holds the number of messages in each state.
type Counts struct {
	Visible  int // number of messages that can be received now
	InFlight int // number of messages received, but not yet deleted or given back
	Delayed  int // number of messages not visible yet, because of a delay or a back-off
	Dead     int // number of dead letters so far
}

// Counts returns the number of messages in each state.
func (q *Queue) Counts() Counts {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	c := Counts{Dead: q.deaths}
	for _, it := range q.due {
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

// Busy reports whether any message can be received now, or is in flight.
func (q *Queue) Busy() bool {
	c := q.Counts()
	return c.Visible+c.InFlight > 0
}

// Bodies returns the bodies of all messages except deleted ones and dead letters, in any order.
func (q *Queue) Bodies() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	bodies := make([]string, 0, len(q.due))
	for _, it := range q.due {
		bodies = append(bodies, it.body)
	}
	return bodies
}

// upcoming returns the time until the next message is visible, and a channel that is closed
// when this time may have changed, for instance by a new message. The bool is false if the
// queue has no messages; then the time is 0.
func (q *Queue) upcoming() (time.Duration, bool, <-chan struct{}) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.due) == 0 {
		return 0, false, q.changed
	}
	return q.due[0].due.Sub(now), true, q.changed
}
