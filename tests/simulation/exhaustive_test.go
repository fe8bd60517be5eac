package simulation

import (
	"fmt"
	"maps"
	"testing"
)

// TestBefore lets each call in turn fail before it happens.
func TestBefore(t *testing.T) {
	t.Parallel()
	each(t, 1, stride, func(*world, *call) fault { return before })
}

// TestAfter lets the answer of each call in turn be lost.
func TestAfter(t *testing.T) {
	t.Parallel()
	each(t, 2, stride, func(*world, *call) fault { return after })
}

// TestKilled ends a function at each of its calls in turn.
func TestKilled(t *testing.T) {
	t.Parallel()
	each(t, 3, deaths, func(*world, *call) fault { return death })
}

// TestRedisLost empties Redis at each call in turn.
func TestRedisLost(t *testing.T) {
	t.Parallel()
	each(t, 4, stride, func(_ *world, c *call) fault {
		c.process.runner.flush()
		return none
	})
}

// TestAllKilled ends the whole program at each call in turn, with its queues
// and its Redis.
func TestAllKilled(t *testing.T) {
	t.Parallel()
	each(t, 5, stride, func(_ *world, c *call) fault {
		c.process.runner.end()
		return none
	})
}

// life is what a world goes through.
type life struct {
	name  string
	plan  plan
	begin func(*world) // what the operator does first; nil: nothing
	asks  bool         // that is to have pages asked for again

	want result // when nothing goes wrong
	took work   // then

	calls map[system]int // then; a run is the same up to its first fault

	classes int // of expiry that the pages of one batch belong to; 0 is 1
	rare    int // one of so many steps is taken; 0 is 1
}

func (l life) start(w *world) {
	w.t.Helper()
	if l.begin != nil {
		l.begin(w)
	}
}

// quiet returns the life with its result when nothing goes wrong, and what that
// took.
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

// lives are the crawl of the small site, and then the forgetting of a page of
// it and the indexing anew of all others: packages, books and segments are
// written without it, documents masked, segments merged, and all that was
// before is collected. The last is another look at the site, after it changed.
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

// each lets something happen at one call to a system, in another run at a
// later one, and so on to the last. With a step of 1 it begins with the first
// call, else with the one that is given.
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

// at lets something happen at one call, and reports whether the run came so
// far.
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
	// What one fault may cost: a batch, with the robots.txt of every host that
	// Redis forgot, a package of each class of expiry, a segment, and a book and the one into which it is
	// merged. When Redis is lost, hosts are shut for a while, and what waits to
	// be packed is packed meanwhile, in a package, a segment and a book of its own.
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
