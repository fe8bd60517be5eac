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
	// happen does it at a call and says what befalls the call and what else
	// there is to say; false when it cannot happen there.
	happen func(w *world, c *call) (f fault, detail string, happened bool)
}

// chaos decides which faults happen when, all by one seed.
type chaos struct {
	random *rand.Rand
	kinds  []kind
	often  int // calls between two faults, on average
	most   int // faults of a run
	log    []string
	count  map[string]int
	twice  work // that was done twice in its run

	resting bool // no fault happens
}

// newChaos chooses some of the kinds: a run with a few of them gets farther
// into what each can do than one with all.
func newChaos(seed uint64, kinds []kind) *chaos {
	random := rand.New(rand.NewPCG(seed, 1))
	c := &chaos{random: random, often: 10 << random.IntN(6), most: 1 + random.IntN(25), count: map[string]int{}}
	for _, n := range random.Perm(len(kinds))[:1+random.IntN(min(5, len(kinds)))] {
		c.kinds = append(c.kinds, kinds[n])
	}
	return c
}

// rests has the world crawl and merge in peace, and faults happen while it
// deletes what it was before.
func (c *chaos) rests(w *world) {
	w.t.Helper()
	c.resting = true
	for range 2 {
		w.settle(longest)
		w.clock.Advance(cleared)
	}
	c.resting = false
}

// decide lets a fault happen or not.
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

// String tells what happened.
func (c *chaos) String() string { return strings.Join(c.log, "\n") }

// table shows counts by kind.
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
