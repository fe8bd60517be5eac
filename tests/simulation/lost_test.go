package simulation

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// every is the number of generations with which lose deletes all generations of a partition.
const every = math.MaxInt

var lostKinds = []kind{
	{"the newest generations of a partition are lost", func(w *world, _ *call) (fault, string, bool) {
		return w.loseOne(1 + w.random.IntN(4))
	}},
	{"all generations of a partition are lost", func(w *world, _ *call) (fault, string, bool) {
		return w.loseOne(every)
	}},
}

func (w *world) loseOne(last int) (fault, string, bool) {
	all := w.inForce.Partitions()
	what := w.lose(all[w.random.IntN(len(all))], last)
	return none, what, what != ""
}

// lose deletes the newest generations of a partition's manifest: the given number of them, or all
// if there are fewer. It also deletes the hint, which is a copy of the newest generation. It
// returns a text that says what it deleted; "" if the partition has no generations.
func (w *world) lose(p layout.Partition, last int) string {
	w.t.Helper()
	generations := w.ownKeys(layout.ManifestPrefix(p))
	if len(generations) == 0 {
		return ""
	}
	generations = generations[max(0, len(generations)-last):]
	before := w.pastOf(p)
	before.follow(w, p)
	for _, key := range append(generations, layout.HintKey(p)) {
		if err := w.store.Delete(w.t.Context(), key); err != nil {
			w.t.Fatal(err)
		}
	}
	w.harmed++
	w.past[p] = &past{last: map[string]uint64{}, since: w.clock.Now(), before: before}
	return fmt.Sprintf("%d from %s on", len(generations), generations[0])
}

// TestGenerationsLost repeats simulations. In each run, the newest generations of one partition's
// manifest, or all generations of all partitions, are deleted at one call to storage. Each run
// chooses a later call than the run before. Whatever the functions do until the repair, the final
// result must be that of a run without the loss.
func TestGenerationsLost(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	step := max(1, number(t, "STRIDE", losses))
	calls := series{next: min(6, step)}
	for _, l := range lives(t, m) {
		for _, last := range []int{2, every} {
			ended := false // true: a run with a loss had fewer calls than the run without one
			for n := range calls.of(l.calls[storage], step*max(1, l.rare)) {
				if ended || t.Failed() {
					continue
				}
				t.Run(fmt.Sprint(l.name, " ", last, " ", n), func(t *testing.T) {
					ended = !l.without(t, m, last, n)
				})
			}
		}
	}
}

// without simulates the life (a kind of run), and deletes generations of manifests at the n-th call
// to storage (see lose). Afterwards it repairs the bucket and checks the final result. It returns
// false if the run made fewer than n calls.
func (l life) without(t *testing.T, m *memories, last, n int) (reached bool) {
	p := l.plan
	p.decide = func(w *world, c *call) fault {
		if c.system == storage && c.number == n && !reached {
			reached = true
			for _, id := range w.inForce.Partitions() {
				if last == every || int(id) == n%partitions {
					w.lose(id, last)
				}
			}
		}
		return none
	}
	inWorld(t, m, p, func(w *world) {
		l.start(w)
		w.settle(10 * time.Minute)
		w.calmDown()
		if reached && l.asks { // nothing was requested while generations were lost
			l.start(w)
		}
		w.run()
		w.check(l.want)
	})
	return reached
}

// TestLostAtRest deletes all manifests after a crawl. Verify must report the loss. Until the
// repair, days later, the functions must not delete any object or write any manifest. The repair
// must restore everything without a request to a site.
func TestLostAtRest(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	want, _ := quiet(t, m, small)
	inWorld(t, m, plan{site: small}, func(w *world) {
		w.settle(longest)
		asked := w.taken().requests
		for _, p := range w.inForce.Partitions() {
			w.lose(p, every)
		}
		before := w.keys("")
		for range 3 {
			w.settle(time.Hour)
			w.clock.Advance(cleared)
		}
		there := make(map[string]bool)
		for _, key := range w.keys("") {
			there[key] = true
			if strings.HasPrefix(key, layout.Manifests) {
				t.Errorf("%s is committed where generations are lost", key)
			}
		}
		for _, key := range before {
			if !there[key] && !strings.HasPrefix(key, layout.Feedback) {
				t.Errorf("%s is deleted where generations are lost", key)
			}
		}
		if problems := w.problems(); len(problems) == 0 {
			t.Error("verify does not say that generations are lost")
		}
		if report := w.repair(); len(report.Left)+report.Fetch > 0 {
			t.Errorf("%d pages to be fetched again, left %v", report.Fetch, report.Left)
		}
		w.rebuild()
		w.run()
		w.check(want)
		if again := w.taken().requests - asked; again > 0 {
			t.Errorf("%d requests after the loss", again)
		}
	})
}
