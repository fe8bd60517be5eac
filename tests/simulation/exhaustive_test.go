package simulation

import (
	"fmt"
	"maps"
	"testing"
)

// TestBefore lets one call fail without effect, in each run a later one.
func TestBefore(t *testing.T) {
	t.Parallel()
	each(t, 1, stride, func(*world, *call) fault { return before })
}

// TestAfter loses the answer of one call, in each run of a later one.
func TestAfter(t *testing.T) {
	t.Parallel()
	each(t, 2, stride, func(*world, *call) fault { return after })
}

// TestKilled kills a process at one of its calls, in each run at a later one.
func TestKilled(t *testing.T) {
	t.Parallel()
	each(t, 3, deaths, func(*world, *call) fault { return death })
}

// TestRedisLost empties Redis at one call, in each run at a later one.
func TestRedisLost(t *testing.T) {
	t.Parallel()
	each(t, 4, stride, func(_ *world, c *call) fault {
		c.process.runner.flush()
		return none
	})
}

// TestAllKilled kills the whole program at one call, with its queues and its Redis, in each run
// at a later call.
func TestAllKilled(t *testing.T) {
	t.Parallel()
	each(t, 5, stride, func(_ *world, c *call) fault {
		c.process.runner.end()
		return none
	})
}

// life is the course of a run: a beginning state, what the operator does, and the expected
// result.
type life struct {
	name  string
	plan  plan
	begin func(*world) // what the operator does first; nil: nothing
	asks  bool         // begin makes pages be requested again

	want result // result of a run without faults
	took work   // work of a run without faults

	calls map[system]int // then; a run is the same up to its first fault

	classes int // number of expiry classes among the pages of one batch; 0 means 1
	rare    int // only every rare-th of the runs is done; 0 means 1
}

func (l life) start(w *world) {
	w.t.Helper()
	if l.begin != nil {
		l.begin(w)
	}
}

// quiet returns the life with the result and the work of a run without faults.
func (l life) quiet(t *testing.T, m *memories) life {
	t.Helper()
	inWorld(t, m, l.plan, func(w *world) {
		l.start(w)
		w.run()
		l.want, l.took, l.calls = w.result(), w.taken(), maps.Clone(w.calls)
		w.check(l.want)
	})
	return l
}

// lives returns three lives. The first is a crawl of the small site. The second begins with the
// crawled site, forgets a page and indexes all others anew: packages, books and segments are
// written without the page, documents masked, segments merged, and old objects deleted. The
// third crawls the site again after it has changed.
func lives(t *testing.T, m *memories) []life {
	t.Helper()
	return knownLives.get(func() []life {
		all := newLives(t, m)
		for i := range all {
			all[i] = all[i].quiet(t, m)
		}
		return all
	})
}

var knownLives once[[]life]

func newLives(t *testing.T, m *memories) []life {
	t.Helper()
	from := crawled(t, m, small)
	return []life{
		{name: "crawl", plan: plan{site: small}},
		{name: "upkeep", plan: plan{site: small, from: from}, begin: func(w *world) {
			w.forget()
			w.reindex()
		}},
		revisit(from),
	}
}

// each calls happens at one call to a system; in the next run at a call that is step later, and
// so on to the last. With a step of 1 it begins with the first call, otherwise with the one
// given as first.
func each(t *testing.T, first, step int, happens func(*world, *call) fault) {
	m, step := newMemories(t), max(1, number(t, "STRIDE", step))
	for _, l := range lives(t, m) {
		step := step * max(1, l.rare)
		for _, s := range systems {
			for n := min(first, step); n <= l.calls[s] && !t.Failed(); n += step {
				t.Run(fmt.Sprint(l.name, " ", s, " ", n), func(t *testing.T) {
					if !l.at(t, m, s, n, happens) {
						t.Errorf("it made fewer calls than the quiet run, %d", l.calls[s])
					}
				})
			}
		}
	}
}

// at calls happens at the n-th call to a system. It returns false if the run had fewer calls.
func (l life) at(t *testing.T, m *memories, s system, n int, happens func(*world, *call) fault) bool {
	var reached *call
	p := l.plan
	p.decide = func(w *world, c *call) fault {
		if c.system != s || c.number != n || reached != nil {
			return none
		}
		reached = c
		t.Log("at", c)
		return happens(w, c)
	}
	// The work that one fault may cause: the requests of a batch, and the robots.txt of every
	// host, because Redis forgot them; a package for each expiry class; a segment; a book, and
	// the one into which it is merged. When Redis is lost, hosts get no requests for a while.
	// Meanwhile the waiting batches are packed, in a package, a segment and a book of their
	// own.
	first := work{requests: l.took.batch + len(l.plan.site.seeds), packages: max(1, l.classes) + 1, segments: 2, merges: 1, books: 3}
	inWorld(t, m, p, func(w *world) {
		l.start(w)
		w.run()
		w.check(l.want)
		if twice := w.taken().beyond(l.took); !twice.within(first) {
			w.t.Errorf("done twice: %v; want at most %v", twice, first)
		}
	})
	return reached != nil
}
