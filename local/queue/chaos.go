package queue

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Chaos disturbs a queue as far as SQS's promises allow: messages come twice, late, and so
// out of order. Several queues may share one.
type Chaos struct {
	Rand   *rand.Rand    // decides; used by nobody else
	Double float64       // share of the messages that come twice
	Delay  time.Duration // each delivery is late by up to this

	mu sync.Mutex // protects Rand
}

// copies returns the number of copies of a message that the queue delivers.
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

// lateness returns the delay of a delivery.
func (c *Chaos) lateness() time.Duration {
	if c == nil || c.Delay <= 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.Rand.Int64N(int64(c.Delay)))
}
