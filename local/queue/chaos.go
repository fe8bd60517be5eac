package queue

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Chaos disturbs a queue in ways that SQS allows: messages come twice or late, and so out of
// order. Several queues may share one Chaos.
type Chaos struct {
	Rand   *rand.Rand    // source of all random choices; must not be used elsewhere
	Double float64       // share of the messages that come twice, from 0 to 1
	Delay  time.Duration // maximum delay of a delivery

	mu sync.Mutex // protects Rand
}

// copies returns how many copies of a message the queue is to deliver, 1 or 2.
func (c *Chaos) copies() int {
	if c == nil {
		return 1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Rand.Float64() < c.Double {
		return 2
	}
	return 1
}

// lateness returns a random time, below Delay, by which the delivery of one copy is put off.
func (c *Chaos) lateness() time.Duration {
	if c == nil || c.Delay <= 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.Rand.Int64N(int64(c.Delay)))
}
