package simulation

import (
	"fmt"
	"iter"
	"maps"
	"testing"
)

// TestBefore repeats simulations. In each run, one call of a process to another system (see
// systems) fails without effect. Each run chooses a later call than the run before. The final result
// must always be that of a run without faults.
func TestBefore(t *testing.T) {
	t.Parallel()
	each(t, 1, stride, func(*world, *call) fault { return before })
}

// TestAfter repeats simulations. In each run, one call of a process to another system (see systems)
// has its effect, but the answer is lost. Each run chooses a later call than the run before. The
// final result must always be that of a run without faults.
func TestAfter(t *testing.T) {
	t.Parallel()
	each(t, 2, stride, func(*world, *call) fault { return after })
}

// TestKilled repeats simulations. In each run, a process is killed at one of its calls to another
// system (see systems). Each run chooses a later call than the run before. The final result must
// always be that of a run without faults.
func TestKilled(t *testing.T) {
	t.Parallel()
	each(t, 3, deaths, func(*world, *call) fault { return death })
}

// TestRedisLost repeats simulations. In each run, Redis is emptied at one call of a process to
// another system (see systems). Each run chooses a later call than the run before. The final result
// must always be that of a run without faults.
func TestRedisLost(t *testing.T) {
	t.Parallel()
	each(t, 4, stride, func(_ *world, c *call) fault {
		c.process.runner.flush()
		return none
	})
}

// TestAllKilled repeats simulations. In each run, the whole program is killed, with its queues and
// its Redis, at one call of a process to another system (see systems). Each run chooses a later call
// than the run before. The final result must always be that of a run without faults.
func TestAllKilled(t *testing.T) {
	t.Parallel()
	each(t, 5, stride, func(_ *world, c *call) fault {
		c.process.runner.end()
		return none
	})
}

// life is a kind of run that tests repeat with different faults: a state at the beginning, what
// the operator does then, and the result that is expected in the end.
type life struct {
	name  string
	plan  plan
	begin func(*world) // what the operator does first; nil: nothing
	asks  bool         // true: what the operator does first makes the crawler request stored pages again

	want result // result of a run without faults
	took work   // work of a run without faults

	calls map[system]int // numbers of calls of a run without faults, by system

	classes int // number of packages for the pages of one batch: one for each expected lifetime of pages; 0 means 1
	rare    int // divisor of the number of runs that tests make of this life, because each takes long; 0 means 1
}

func (l life) start(w *world) {
	w.t.Helper()
	if l.begin != nil {
		l.begin(w)
	}
}

// quiet simulates the life (a kind of run) once without faults. It returns a copy of the life with
// the fields want, took and calls, which it sets to the result, work and numbers of calls of this
// run.
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

// lives returns three lives (kinds of runs):
//
//   - a crawl of the small site
//   - maintenance after a crawl of this site: the operator has a page erased, and all others indexed
//     anew. Packages, books and segments are then written again without the page. Documents are
//     marked as dead, segments are merged, and old objects are deleted.
//   - a second crawl of the site after it has changed
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

// each repeats every life (a kind of run). In each repetition, one call to one system, such as
// storage or Redis, gets a fault, which the callback chooses. The faults move on by step calls from one
// repetition to the next, as through one sequence (see series): all calls of a life to one system, then those
// to the next system, then those of the next life. Five tests share the work: the number of the test, from 1
// to 5, decides at which call it begins, so that they choose different calls.
func each(t *testing.T, test, step int, happens func(*world, *call) fault) {
	m, step := newMemories(t), max(1, number(t, "STRIDE", step))
	calls := series{next: max(1, step*test/5)}
	for _, l := range lives(t, m) {
		for _, s := range systems {
			for n := range calls.of(l.calls[s], step*max(1, l.rare)) {
				t.Run(fmt.Sprint(l.name, " ", s, " ", n), func(t *testing.T) {
					if !l.at(t, m, s, n, happens) {
						t.Errorf("it made fewer calls than the quiet run, %d", l.calls[s])
					}
				})
				if t.Failed() {
					return
				}
			}
		}
	}
}

// series chooses calls at equal distances from several sequences of calls, as if they were one. So a sequence
// that is shorter than the distance is not chosen from each time.
type series struct {
	next int // number of the next call to choose, counted from 1 in the next sequence
}

// of yields the chosen numbers of the next sequence, which has the given number of calls.
func (s *series) of(calls, step int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; s.next <= calls; s.next += step {
			if !yield(s.next) {
				return
			}
		}
		s.next -= calls
	}
}

// at simulates the life (a kind of run) once, with one fault. The fault happens at the n-th call to
// the system, and the callback chooses it. The test fails if the final result is wrong, or if more
// work was done twice than one fault can explain. The method returns false if the run made fewer
// than n calls to the system.
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
	// host, because Redis forgot them; a package for each expiry class; a segment; a merge; a book,
	// and the one into which it is merged. When Redis is lost, hosts get no requests for a while.
	// Meanwhile the waiting batches are packed, in a package, a segment and a book of their own;
	// and this segment is merged with the others. For example, the program is killed when it has
	// stored a merged segment and not committed it: this merge is repeated, and the next batch
	// comes in two parts, each of which is merged.
	first := work{requests: l.took.batch + len(l.plan.site.seeds), packages: max(1, l.classes) + 1, segments: 2, merges: 2, books: 3}
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
