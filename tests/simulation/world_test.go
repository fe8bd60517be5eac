package simulation

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

const (
	partitions = 2
	callTime   = 2 * time.Millisecond // maximum simulated duration of a call
)

// world is a simulated search engine, with its bucket, runners (complete sets of functions),
// clock and web.
type world struct {
	t          *testing.T
	site       *site
	random     *rand.Rand
	clock      *functionstest.Clock
	store      *memblob.Bucket // the bucket itself, whose calls never fail
	web        *visitors
	runners    []*runner
	inForce    *settings.Settings
	decide     func(*call) fault
	atOnce     int // maximum number of processes that work at once
	work       work
	hidden     []takedown.Entry // takedowns of hide that are not taken back
	everHidden bool             // whether hide was ever called

	ordered work // work that commands of the operator may have caused (see reindex); not counted as done twice
	tiers   segments.Limits
	past    map[layout.Partition]*past
	deleted map[string]int // numbers of deleted objects, by prefix

	renewing    bool // true: leases are short, and processes renew them (see process.lease)
	reads       bool // true: queries run while other processes work
	moments     []moment
	wrongClocks bool // true: a clock has gone wrong in this run

	fullUntil, downUntil time.Time       // times until which the storage is full, or cannot be reached
	unanswered           map[string]bool // requests that got no answer once; they are answered when repeated

	mu      sync.Mutex
	waiting []*call // calls that wait until they may happen; protected by mu
	working []*process
	started int            // number of processes started so far
	calls   map[system]int // numbers of calls so far, by system
	steps   int
	changes int             // number of batches fetched, plus number of generations committed
	harmed  int             // number of damaged objects, plus number of times that a partition lost generations
	foreign map[string]bool // keys of foreign objects, which no function of the program writes
}

// plan describes a run of the simulation. In a plan without decide, no faults happen.
type plan struct {
	seed    uint64
	site    *site
	runners int // number of runners (complete sets of functions); 0 means 1
	atOnce  int // maximum number of messages that are handled at once; 0 means 1
	reads   bool
	from    *state // state at the beginning; nil: an empty bucket
	masked  bool   // true: no segments are merged, so that documents marked as dead stay
	decide  func(*world, *call) fault
}

// inWorld makes a new world (a simulated search engine) by a plan, and runs a test with it. The world
// lives in a bubble of testing/synctest, with a simulated clock, and stands still until the test
// calls a method that runs the simulation.
func inWorld(t *testing.T, m *memories, p plan, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, m, p)
		defer w.end()
		test(w)
	})
}

func newWorld(t *testing.T, m *memories, p plan) *world {
	t.Helper()
	if err := m.clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, site: p.site, random: rand.New(rand.NewPCG(p.seed, 0)), clock: functionstest.NewClock(),
		store: memblob.New(), web: &visitors{site: p.site, asked: map[string]int{}}, atOnce: max(1, p.atOnce), renewing: p.seed%2 == 1, reads: p.reads,
		calls: map[system]int{}, unanswered: map[string]bool{}, past: map[layout.Partition]*past{}, foreign: map[string]bool{}, deleted: map[string]int{},
		tiers:  tiers,
		decide: func(*call) fault { return none },
	}
	if p.masked {
		w.tiers = segments.Limits{}
	}
	if p.decide != nil {
		w.decide = func(c *call) fault { return p.decide(w, c) }
	}
	for n := range max(1, p.runners) {
		r := &runner{world: w, redis: m[2*n], older: m[2*n+1]}
		r.queue.world = w
		w.runners = append(w.runners, r)
	}
	if p.from != nil {
		w.restore(p.from)
		return w
	}
	w.publish()
	return w
}

// publish publishes two collections, each with half of the site's seeds. Their stored pages are
// never requested again unless a test calls renew.
func (w *world) publish() {
	w.t.Helper()
	first := func(c *collection.Collection) {
		c.Delay, c.Schedule = collection.Duration(w.site.delay), "once"
	}
	half := len(w.site.seeds) / 2
	w.inForce = functionstest.Publish(w.t, w.store, partitions, first, w.site.seeds[:half]...)
	second := w.inForce.Collections[0]
	second.Name, second.Agent, second.HostPages, second.Seeds = "second", "secondbot/1.0", w.site.hostPages, nil
	for _, seed := range w.site.seeds[half:] {
		second.Seeds = append(second.Seeds, collection.Seed{URL: seed, Scope: collection.Site, Depth: collection.Unlimited})
	}
	w.inForce = functionstest.Republish(w.t, w.store, second, nil)
}

// calmDown ends all faults, and repairs the bucket if it was damaged.
func (w *world) calmDown() {
	w.decide = func(*call) fault { return none }
	w.fullUntil, w.downUntil = time.Time{}, time.Time{}
	for _, r := range w.runners {
		r.cutUntil, r.queue.shuffle = time.Time{}, false
		r.idle = nil // their clocks may be wrong
	}
	w.resume()
	w.show()
	if w.harmed > 0 {
		w.settle(10 * time.Minute)
		w.repair()
		w.rebuild()
	}
}

// end kills all processes that still work.
func (w *world) end() {
	for len(w.working) > 0 {
		synctest.Wait()
		for _, p := range w.working {
			w.kill(p)
		}
		for _, p := range w.working {
			<-p.ended
		}
		w.working = nil
	}
}

// unreachable reports whether the system that is called (storage or Redis) cannot be reached now.
func (w *world) unreachable(c *call) bool {
	now := w.clock.Now()
	switch c.system {
	case storage:
		return now.Before(w.downUntil)
	case memory:
		return now.Before(c.process.runner.cutUntil)
	}
	return false
}

func (w *world) diskFull() bool { return w.clock.Now().Before(w.fullUntil) }

// keys returns the keys below a prefix.
func (w *world) keys(prefix string) []string {
	w.t.Helper()
	return functionstest.Keys(w.t, w.store, prefix)
}

// ownKeys returns the keys below a prefix, except those of foreign objects, which no function
// of the program writes.
func (w *world) ownKeys(prefix string) []string {
	w.t.Helper()
	return slices.DeleteFunc(w.keys(prefix), layout.IsForeign)
}
