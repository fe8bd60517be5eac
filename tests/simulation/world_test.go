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
)

const (
	partitions = 2
	callTime   = 2 * time.Millisecond // a call takes up to so long
)

// world is a whole search engine.
type world struct {
	t       *testing.T
	site    *site
	random  *rand.Rand
	clock   *functionstest.Clock
	store   *memblob.Bucket // without faults
	web     *visitors
	runners []*runner
	inForce *settings.Settings
	decide  func(*call) fault
	atOnce  int // processes that work
	work    work
	ordered work // by the operator, at most
	tiers   segments.Limits
	past    map[layout.Partition]*past
	deleted map[string]int // objects, by what their keys begin with

	reads       bool // queries are asked while others work
	moments     []moment
	wrongClocks bool // some clock went wrong once

	fullUntil, downUntil time.Time       // of the storage
	unanswered           map[string]bool // requests to sites that failed once

	mu      sync.Mutex
	waiting []*call // protected by mu
	working []*process
	started int            // processes
	calls   map[system]int // that happened, by system
	steps   int
	changes int             // batches fetched and generations committed
	harmed  int             // objects damaged, and partitions of which generations were lost
	foreign map[string]bool // objects
}

// plan says what a run is like. The zero plan is a quiet one.
type plan struct {
	seed    uint64
	site    *site
	runners int // 0 is 1
	atOnce  int // messages that are worked on at once; 0 is 1
	reads   bool
	from    *state // in which it begins; nil is the empty bucket
	masked  bool   // nothing is merged, so that what is dead stays
	decide  func(*world, *call) fault
}

// inWorld runs a test in a world that has not begun, in a bubble where nothing
// happens by itself.
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
		store: memblob.New(), web: &visitors{site: p.site, asked: map[string]int{}}, atOnce: max(1, p.atOnce), reads: p.reads,
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

// publish has half of the site's seeds belong to one collection, and the others
// to another. No page of either is due, until it is renewed.
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

// calmDown ends all faults that last.
func (w *world) calmDown() {
	w.decide = func(*call) fault { return none }
	w.fullUntil, w.downUntil = time.Time{}, time.Time{}
	for _, r := range w.runners {
		r.cutUntil, r.queue.shuffle = time.Time{}, false
		r.idle = nil // with their wrong clocks
	}
	w.resume()
	if w.harmed > 0 {
		w.settle(10 * time.Minute)
		w.repair()
		w.rebuild()
	}
}

// end kills all that still runs.
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

// unreachable reports whether what the call wants cannot be reached now.
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

// ownKeys returns the keys below a prefix that are not foreign.
func (w *world) ownKeys(prefix string) []string {
	w.t.Helper()
	return slices.DeleteFunc(w.keys(prefix), layout.IsForeign)
}
