package faults

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
)

func none(*world, faultblob.Call) faultblob.Fault { return faultblob.None }

// quiet is the result of a run in which nothing goes wrong.
func quiet(t *testing.T, rdb *redis.Client) result {
	t.Helper()
	w := newWorld(t, rdb, none)
	w.run()
	want := w.result()
	w.check(want)
	if w.queue.dead > 0 {
		t.Errorf("%d messages were given up", w.queue.dead)
	}
	return want
}

// TestFaultBefore lets each storage call in turn fail before it happens.
func TestFaultBefore(t *testing.T) {
	t.Parallel()
	each(t, 1, func(*world) faultblob.Fault { return faultblob.Before })
}

// TestFaultAfter lets the answer of each storage call in turn be lost.
func TestFaultAfter(t *testing.T) {
	t.Parallel()
	each(t, 2, func(*world) faultblob.Fault { return faultblob.After })
}

// TestRedisLost empties Redis at each storage call in turn.
func TestRedisLost(t *testing.T) {
	t.Parallel()
	each(t, 3, func(w *world) faultblob.Fault {
		w.flush()
		return faultblob.None
	})
}

// TestKilled ends the whole program at each storage call in turn, with its
// queues and its Redis.
func TestKilled(t *testing.T) {
	t.Parallel()
	each(t, 4, func(w *world) faultblob.Fault {
		w.killed.Store(true)
		return faultblob.Before
	})
}

// each lets something happen at one storage call, in another run at a later
// one, and so on until a run ends before. With a stride of 1 it begins with
// the first call, else with the one that is given.
func each(t *testing.T, first int64, happens func(*world) faultblob.Fault) {
	rdb := newRedis(t)
	want := quiet(t, rdb)
	if stride == 1 {
		first = 1
	}
	for number, ended := first, false; !ended && !t.Failed(); number += stride {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			var reached atomic.Bool
			w := newWorld(t, rdb, func(w *world, c faultblob.Call) faultblob.Fault {
				if c.Number != number {
					return faultblob.None
				}
				reached.Store(true)
				t.Logf("at call %d: %s %s", number, c.Op, c.Key)
				return happens(w)
			})
			w.run()
			w.check(want)
			ended = !reached.Load()
		})
	}
}

// TestDelivery delivers every message twice, and the newest first.
func TestDelivery(t *testing.T) {
	t.Parallel()
	rdb := newRedis(t)
	want := quiet(t, rdb)
	for _, copies := range []int{1, 2, 3} {
		for _, newest := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d copies, newest first %v", copies, newest), func(t *testing.T) {
				w := newWorld(t, rdb, none)
				w.queue.copies, w.queue.newest = copies, newest
				w.run()
				w.check(want)
			})
		}
	}
}

// TestFlakySites has every address fail once, each robots.txt too.
func TestFlakySites(t *testing.T) {
	t.Parallel()
	rdb := newRedis(t)
	want := quiet(t, rdb)
	w := newWorld(t, rdb, none)
	w.web.flaky = true
	w.run()
	w.check(want)
}
