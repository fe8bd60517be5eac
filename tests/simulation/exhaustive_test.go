package simulation

import (
	"fmt"
	"testing"
)

// TestBefore lets each call in turn fail before it happens.
func TestBefore(t *testing.T) {
	t.Parallel()
	each(t, 1, func(*world, *call) fault { return before })
}

// TestAfter lets the answer of each call in turn be lost.
func TestAfter(t *testing.T) {
	t.Parallel()
	each(t, 2, func(*world, *call) fault { return after })
}

// TestKilled ends a function at each of its calls in turn.
func TestKilled(t *testing.T) {
	t.Parallel()
	each(t, 3, func(*world, *call) fault { return death })
}

// TestRedisLost empties Redis at each call in turn.
func TestRedisLost(t *testing.T) {
	t.Parallel()
	each(t, 4, func(_ *world, c *call) fault {
		c.process.runner.flush()
		return none
	})
}

// TestAllKilled ends the whole program at each call in turn, with its queues
// and its Redis.
func TestAllKilled(t *testing.T) {
	t.Parallel()
	each(t, 5, func(_ *world, c *call) fault {
		c.process.runner.end()
		return none
	})
}

// each lets something happen at one call to a system, in another run at a
// later one, and so on until a run ends before. With a stride of 1 it begins
// with the first call, else with the one that is given.
func each(t *testing.T, first int, happens func(*world, *call) fault) {
	m := newMemories(t)
	want, took := quiet(t, m, small)
	// What one fault may cost: a batch, with the robots.txt of every host that
	// Redis forgot, a package, a segment, and a book and the one into which it is
	// merged.
	once := work{requests: took.batch + len(small.seeds), packages: 1, segments: 1, books: 2}
	if stride == 1 {
		first = 1
	}
	for _, s := range systems {
		for number, ended := first, false; !ended && !t.Failed(); number += stride {
			t.Run(fmt.Sprint(s, " ", number), func(t *testing.T) {
				var reached *call
				inWorld(t, m, plan{site: small, decide: func(w *world, c *call) fault {
					if c.system != s || c.number != number || reached != nil {
						return none
					}
					reached = c
					t.Log("at", c)
					return happens(w, c)
				}}, func(w *world) {
					w.run()
					w.check(want)
					if twice := w.taken().beyond(took); !twice.within(once) {
						w.t.Errorf("done twice: %v; want at most %v", twice, once)
					}
				})
				ended = reached == nil
			})
		}
	}
}
