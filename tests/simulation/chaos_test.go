package simulation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// kind is a kind of fault that happens at random calls.
type kind struct {
	name string
	// happen lets the fault happen at a call. It returns in which way the call itself fails,
	// and a detail for the log; or false if this fault cannot happen there.
	happen func(w *world, c *call) (f fault, detail string, happened bool)
}

// chaos decides at random which faults happen at which calls. The seed determines all of it.
type chaos struct {
	random *rand.Rand
	kinds  []kind
	often  int // mean number of calls between two faults
	most   int // maximum number of faults of a run
	log    []string
	count  map[string]int
	twice  work // work that was done twice in the run

	resting bool // true: no fault happens for now
}

// newChaos chooses a few of the kinds of faults for a run, so that each of them happens several
// times.
func newChaos(seed uint64, kinds []kind) *chaos {
	random := rand.New(rand.NewPCG(seed, 1))
	c := &chaos{random: random, often: 10 << random.IntN(6), most: 1 + random.IntN(25), count: map[string]int{}}
	for _, n := range random.Perm(len(kinds))[:1+random.IntN(min(5, len(kinds)))] {
		c.kinds = append(c.kinds, kinds[n])
	}
	return c
}

// rests lets the world crawl and merge without faults. After that, faults happen while old
// objects are deleted.
func (c *chaos) rests(w *world) {
	w.t.Helper()
	c.resting = true
	for range 2 {
		w.settle(longest)
		w.clock.Advance(cleared)
	}
	c.resting = false
}

// decide returns the fault of a call, which is usually none.
func (c *chaos) decide(w *world, at *call) fault {
	if c.resting || len(c.log) >= c.most || c.random.IntN(c.often) > 0 {
		return none
	}
	k := c.kinds[c.random.IntN(len(c.kinds))]
	f, detail, happened := k.happen(w, at)
	if !happened {
		return none
	}
	c.count[k.name]++
	c.log = append(c.log, fmt.Sprintf("%s: %s %s, at %v", w.clock.Now().Format(time.TimeOnly), k.name, detail, at))
	return f
}

// String returns the log of the faults, a line for each.
func (c *chaos) String() string { return strings.Join(c.log, "\n") }

// table returns the number of faults of each kind, a line for each.
func table(counts map[string]int) string {
	var b strings.Builder
	total := 0
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%8d  %s\n", counts[name], name)
		total += counts[name]
	}
	fmt.Fprintf(&b, "%8d  faults\n", total)
	return b.String()
}
