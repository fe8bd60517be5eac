package queue

import "time"

// Counts holds the number of messages in each state.
type Counts struct {
	Visible  int // could be received now
	InFlight int // received, neither deleted nor given back
	Delayed  int // wait for a delay or a back-off to end
	Dead     int // dead letters so far
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

// Bodies returns the bodies of all messages that are neither deleted nor dead.
func (q *Queue) Bodies() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	bodies := make([]string, 0, len(q.due))
	for _, it := range q.due {
		bodies = append(bodies, it.body)
	}
	return bodies
}

// upcoming returns how long until a message is visible, false when there is
// none, and a channel that closes when that may have changed.
func (q *Queue) upcoming() (time.Duration, bool, <-chan struct{}) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.due) == 0 {
		return 0, false, q.changed
	}
	return q.due[0].due.Sub(now), true, q.changed
}
