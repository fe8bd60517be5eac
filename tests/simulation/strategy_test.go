package simulation

import (
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

// TestPartitionDropped drops a partition from the storage strategy at the n-th call to storage, and
// adds it again at call 2n. Each run has a greater n than the run before. Stored pages must stay
// searchable, and verify must find no problem. A page that is requested again may be stored in
// another partition than before. Even so, a search must find it only once.
func TestPartitionDropped(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	step := max(1, number(t, "STRIDE", drops))
	for _, l := range lives(t, m) {
		for dropped := range partitions {
			for n := min(7, step); n <= l.calls[storage] && !t.Failed(); n += step {
				t.Run(fmt.Sprint(l.name, " ", dropped, " ", n), func(t *testing.T) {
					if !l.moved(t, m, layout.Partition(dropped), n) {
						t.Errorf("it made fewer calls than the quiet run, %d", l.calls[storage])
					}
				})
			}
		}
	}
}

// moved simulates the life (a kind of run). At the n-th call to storage, it drops a partition from
// the storage strategy. At call 2n, it adds the partition again. Then it checks the final result.
// It returns false if the run made fewer than n calls.
func (l life) moved(t *testing.T, m *memories, dropped layout.Partition, n int) (reached bool) {
	p := l.plan
	named := true
	p.decide = func(w *world, c *call) fault {
		if c.system != storage {
			return none
		}
		all := w.inForce.Partitions()
		switch {
		case c.number >= n && !reached:
			t.Log("at", c)
			reached, named = true, false
			w.share(slices.DeleteFunc(slices.Clone(all), func(p layout.Partition) bool { return p == dropped })...)
		case c.number >= 2*n && !named:
			named = true
			w.share(all...)
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
