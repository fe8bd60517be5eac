package simulation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// kind is a kind of fault, such as a killed process. Faults of a kind happen at random calls.
type kind struct {
	name string
	// happen makes a fault of this kind happen at the call c. The fault may also concern something
	// else than the call, such as a clock. The result f says how the call itself fails, or none if it
	// does not. detail is a text for the log. happened is false if no such fault can happen now.
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
	twice  work // work done again because of the faults: the run's work minus that of a run without faults

	resting bool // true: no fault happens for now
}

// newChaos chooses the kinds of faults for a run: at most five, so that faults of each chosen kind
// can happen several times.
func newChaos(seed uint64, kinds []kind) *chaos {
	random := rand.New(rand.NewPCG(seed, 1))
	c := &chaos{random: random, often: 10 << random.IntN(6), most: 1 + random.IntN(25), count: map[string]int{}}
	for _, n := range random.Perm(len(kinds))[:1+random.IntN(min(5, len(kinds)))] {
		c.kinds = append(c.kinds, kinds[n])
	}
	return c
}

// rests runs the world without faults until everything is crawled and merged. Then it advances the
// clock until old objects may be deleted. So the faults that follow happen while objects are
// deleted.
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
