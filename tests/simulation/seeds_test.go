package simulation

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// number returns the number in the named environment variable, or the given default if the
// variable is not set.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s: want a number", name, value)
	}
	return n
}

// TestSeed repeats the run of one seed and tells what happened in it:
//
//	SEED=123 go test ./tests/simulation -run 'TestSeed$' -v
func TestSeed(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	c := runSeed(t, m, uint64(number(t, "SEED", 1)), newBaseline(t, m))
	t.Logf("faults:\n%v", c)
}

// TestSeeds runs as many seeds as RUNS says, from SEED on:
//
//	RUNS=1000 go test ./tests/simulation -run TestSeeds -v
func TestSeeds(t *testing.T) {
	t.Parallel()
	first, runs := number(t, "SEED", 1), number(t, "RUNS", usualRuns)
	var mu sync.Mutex
	survived, faults, twice := map[string]int{}, 0, work{} // protected by mu
	var next atomic.Int64
	began := time.Now()
	t.Run("all", func(t *testing.T) {
		for worker := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				m := newMemories(t)
				calm := newBaseline(t, m)
				for {
					n := int(next.Add(1)) - 1
					if n >= runs {
						return
					}
					seed := uint64(first + n)
					t.Run(fmt.Sprint(seed), func(t *testing.T) {
						c := runSeed(t, m, seed, calm)
						mu.Lock()
						defer mu.Unlock()
						for name, count := range c.count {
							survived[name] += count
						}
						faults += len(c.log)
						twice = twice.plus(c.twice)
					})
				}
			})
		}
	})
	t.Logf("%d runs in %v survived\n%s", runs, time.Since(began).Round(time.Millisecond), table(survived))
	t.Logf("done twice: %v", twice)
	if most := mostTwice.times(max(faults, fewFaults)); !twice.times(mostTwiceOf).within(most) {
		t.Errorf("%v done twice for %d faults is more than %v for %d", twice, faults, mostTwice, mostTwiceOf)
	}
}

// mostTwice limits the work (requests and created objects) that is done twice because of faults. It
// is the limit for every ten faults (see mostTwiceOf); the faults and the work of all runs are added
// up first. The limit is large because some faults last. While the disk is full, for example, a
// batch is fetched again and again. The limit of books is the largest: where leases are short, a fault
// that lasts ends a batch early, and each part of it is packed with a book of its own.
var mostTwice = work{requests: 40, packages: 3, segments: 3, merges: 3, books: 6}

const mostTwiceOf = 10

// fewFaults is the least number of faults for which mostTwice is taken: single faults may cost more than most do.
const fewFaults = 20

// turmoil is the simulated time during which faults happen.
const turmoil = time.Hour

// baseline holds the results and the work of runs without faults. Other runs are compared with
// them.
type baseline struct {
	all, rest result // results of a crawl (all), and of a crawl with a takedown that erases some pages (rest)
	took      work
}

var knownBaseline once[baseline]

func newBaseline(t *testing.T, m *memories) baseline {
	t.Helper()
	return knownBaseline.get(func() (b baseline) {
		b.all, b.took = quiet(t, m, large)
		b.rest, _ = quietOf(t, m, large, true)
		return b
	})
}

// runSeed crawls the large site with faults, and then goes on without faults until nothing is
// left to do.
func runSeed(t *testing.T, m *memories, seed uint64, calm baseline) *chaos {
	t.Helper()
	c := newChaos(seed, kinds)
	failed := true
	inWorld(t, m, plan{seed: seed, site: large, atOnce: 1 + int(seed%3), runners: 1 + int(seed%5/4), reads: true, decide: c.decide}, func(w *world) {
		defer func() {
			if failed = w.t.Failed(); failed {
				w.t.Logf("seed %d failed; repeat it by: SEED=%d go test ./tests/simulation -run 'TestSeed$' -v\nfaults:\n%v", seed, seed, c)
			}
		}()
		if seed%4 == 0 { // the faults happen a day later, when old objects are deleted
			c.rests(w)
		}
		w.settle(turmoil)
		w.calmDown()
		w.run()
		want := calm.all
		if w.forgets() {
			want = calm.rest
		}
		w.check(want)
		c.twice = w.taken().beyond(calm.took.times(len(w.runners)))
	})
	return c
}
