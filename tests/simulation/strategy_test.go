package simulation

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

var strategyKinds = []kind{
	{"the operator publishes a storage strategy that names other partitions", func(w *world, _ *call) (fault, string, bool) {
		all := w.inForce.Partitions()
		among := all
		if len(w.inForce.Storage.Partitions()) == len(all) { // otherwise it names all partitions again
			among = slices.Delete(slices.Clone(all), 0, 1)
			if w.chance(2) {
				among = all[:len(all)-1]
			}
		}
		w.share(among...)
		return none, "", true
	}},
	{"the operator splits or joins partitions", func(w *world, _ *call) (fault, string, bool) {
		of, what := []rules.Kind{rules.Crawl, rules.Storage}[w.random.IntN(2)], ""
		err := w.divide(of, func(last rules.Document, unused int) ([]rules.Rule, error) {
			all := last.Partitions()
			one, other := all[w.random.IntN(len(all))], all[w.random.IntN(len(all))]
			if one != other {
				what = fmt.Sprintf("of kind %s, %d into %d", of, one, other)
				return last.Join(one, other)
			}
			if unused == mostPartitions {
				return nil, errors.New("there are many already")
			}
			what = fmt.Sprintf("of kind %s, %d from %d", of, unused, one)
			return last.Split(one, unused, layout.Place(w.random.Uint64()).SiteRange().From)
		})
		return none, what, err == nil
	}},
}

// mostPartitions is the greatest number of partitions of a kind that a run begins.
const mostPartitions = 5

// divide publishes a next version of a strategy.
func (w *world) divide(of rules.Kind, change func(last rules.Document, unused int) ([]rules.Rule, error)) error {
	w.t.Helper()
	_, err := rules.Change(w.t.Context(), w.store, of, w.clock.Now(), change)
	w.reread()
	return err
}

// share publishes a storage strategy: rules that divide new pages evenly among the given
// partitions.
func (w *world) share(among ...layout.Partition) {
	w.t.Helper()
	last, err := rules.Load(w.t.Context(), w.store, rules.Storage)
	if err != nil {
		w.t.Fatal(err)
	}
	next := rules.Even(rules.Storage, len(among), w.clock.Now())
	next.Version = last.Version + 1
	for i, p := range among {
		next.Rules[i].Partition = int(p)
	}
	if err := rules.Publish(w.t.Context(), w.store, next); err != nil {
		w.t.Fatal(err)
	}
	w.reread()
}

// changes are pairs of changes of strategies: a first one, and one that takes it back.
var changes = []struct {
	name        string
	first, back func(*world) error
}{
	{"storage partition 0 is dropped", drop(0), drop(-1)},
	{"storage partition 1 is dropped", drop(1), drop(-1)},
	{"storage partition 1 is split, and joined", split(rules.Storage), join(rules.Storage)},
	{"crawl partition 1 is split, and joined", split(rules.Crawl), join(rules.Crawl)},
}

// drop returns a function that publishes a storage strategy of all partitions but one; of all, if there is none with
// the number.
func drop(one layout.Partition) func(*world) error {
	return func(w *world) error {
		w.share(slices.DeleteFunc(w.inForce.Partitions(), func(p layout.Partition) bool { return p == one })...)
		return nil
	}
}

// split returns a function that gives sites of the partition 1 to a new one, 2.
func split(of rules.Kind) func(*world) error {
	return func(w *world) error {
		return w.divide(of, func(last rules.Document, unused int) ([]rules.Rule, error) {
			return last.Split(1, unused, 3<<62)
		})
	}
}

func join(of rules.Kind) func(*world) error {
	return func(w *world) error {
		return w.divide(of, func(last rules.Document, _ int) ([]rules.Rule, error) { return last.Join(2, 1) })
	}
}

// TestStrategyChanges changes a strategy at the n-th call to storage, and back at call 2n. Each run has
// a greater n than the run before. Stored pages must stay searchable, and verify must find no problem. A
// page that is requested again may be stored in another partition than before. Even so, a search must find
// it only once.
func TestStrategyChanges(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	step := max(1, number(t, "STRIDE", drops))
	calls := series{next: min(7, step)}
	for _, l := range lives(t, m) {
		for _, change := range changes {
			for n := range calls.of(l.calls[storage], step) {
				t.Run(fmt.Sprint(l.name, ": ", change.name, " ", n), func(t *testing.T) {
					if !l.changed(t, m, n, change.first, change.back) {
						t.Errorf("it made fewer calls than the quiet run, %d", l.calls[storage])
					}
				})
				if t.Failed() {
					return
				}
			}
		}
	}
}

// changed simulates the life (a kind of run). At the n-th call to storage, it calls first. At call 2n, it
// calls back. Then it checks the final result. It returns false if the run made fewer than n calls.
func (l life) changed(t *testing.T, m *memories, n int, first, back func(*world) error) (reached bool) {
	p := l.plan
	p.decide = func(w *world, c *call) fault {
		change := first
		switch {
		case c.system != storage || c.number < n || reached && c.number < 2*n || first == nil && back == nil:
			return none
		case reached:
			change, back = back, nil
		default:
			t.Log("at", c)
			reached, first = true, nil
		}
		if err := change(w); err != nil {
			t.Error(err)
		}
		return none
	}
	inWorld(t, m, p, func(w *world) {
		l.start(w)
		w.run()
		w.check(l.want)
		if twice := w.taken().beyond(l.took); twice.requests > l.took.batch {
			w.t.Errorf("done twice: %v; want at most a batch", twice)
		}
	})
	return reached
}
