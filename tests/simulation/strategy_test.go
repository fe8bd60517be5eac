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
		if len(w.inForce.Storage.Partitions()) == len(all) { // else it names all again
			among = slices.Delete(slices.Clone(all), 0, 1)
			if w.chance(2) {
				among = all[:len(all)-1]
			}
		}
		w.share(among...)
		return none, "", true
	}},
}

// share publishes a storage strategy that shares new pages out among some
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

// TestPartitionDropped publishes a storage strategy that names one partition
// less at one call to storage, and twice as late one that names it again, in
// another run both later, and so on. What is stored stays searched and verified;
// a page that is requested once more moves, and is one document all the same.
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

// moved drops a partition at one storage call, and reports whether the run came
// so far.
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
