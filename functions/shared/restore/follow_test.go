package restore

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// read reads the settings in force.
func (w *world) read() {
	w.t.Helper()
	var err error
	if w.inForce, err = settings.Read(w.t.Context(), w.bucket, w.clock.Now()); err != nil {
		w.t.Fatal(err)
	}
}

// rebuilt rebuilds frontiers from the same bucket in another Redis, and returns the picture of these.
func (w *world) rebuilt() picture {
	w.t.Helper()
	fresh := *w
	fresh.Frontiers = &Frontiers{Bucket: w.bucket, Redis: redistest.Server(w.t), Now: w.clock.Now, Worker: "other", Log: w.Log}
	fresh.run()
	return fresh.picture()
}

// crawlAtRandom commits books of a small crawl: pages of six sites, with links among them and outcomes of
// all kinds.
func crawlAtRandom(w *world, random *rand.Rand) {
	w.t.Helper()
	url := func() string {
		return fmt.Sprintf("http://%s.example/%s%d", []string{"one", "two", "three", "four", "five", "www.six"}[random.IntN(6)], []string{"", "a/", "b/"}[random.IntN(3)], random.IntN(8))
	}
	for range 2 {
		var learnt book.Book
		seen := make(map[string]bool)
		for range 60 {
			if to := url(); !seen[to] {
				seen[to] = true
				o := functionstest.Outcome(w.t, version(uint64(50+random.IntN(9))), to, []book.State{book.Stored, book.Stored, book.Failed, book.Skipped, book.Retry}[random.IntN(5)])
				o.Exponent, o.Depth = int16(random.IntN(4)), uint16(random.IntN(4))
				learnt.Outcomes = append(learnt.Outcomes, o)
			}
			for range 3 {
				learnt.Links = append(learnt.Links, functionstest.Link(w.t, one, url(), uint16(1+random.IntN(4))))
			}
		}
		functionstest.Learn(w.t, w.bucket, 0, learnt)
	}
}

// change publishes one change of the settings. It returns what it does, and whether the frontiers can
// follow it without a rebuild.
func (w *world) change(random *rand.Rand) (what string, follows bool) {
	w.t.Helper()
	host := []string{"one", "two", "three", "four", "five", "www.six"}[random.IntN(6)]
	at, err := address.Parse(fmt.Sprintf("http://%s.example/%s%d", host, []string{"", "a/", "b/"}[random.IntN(3)], random.IntN(8)))
	w.must(err)
	own := w.inForce.Collection(functionstest.Collection)
	publish := func(change func(*collection.Collection)) {
		functionstest.Republish(w.t, w.bucket, own, change)
	}
	gone := takedown.URL(at, w.clock.Now())
	if random.IntN(2) == 0 {
		gone = takedown.Site(at.Site, w.clock.Now())
	}
	switch random.IntN(10) {
	case 0:
		publish(func(c *collection.Collection) { c.Delay, c.Agent = c.Delay+1, fmt.Sprint("agent/", c.Version) })
		return "a delay", true
	case 1:
		_, err = takedown.Suspend(w.t.Context(), w.bucket, w.clock.Now().Add(time.Hour), gone)
		w.must(err)
		return fmt.Sprintf("%s or its site is hidden", at.URL), true
	case 2:
		_, err = takedown.Forget(w.t.Context(), w.bucket, gone)
		w.must(err)
		return fmt.Sprintf("%s or its site is forgotten", at.URL), true
	case 3:
		w.clock.Advance(2 * time.Hour)
		w.must(takedown.Seal(w.t.Context(), w.bucket, w.clock.Now()))
		return "takedowns are sealed", true
	case 4, 5:
		seed := collection.Seed{URL: at.URL, Scope: []collection.Scope{collection.Prefix, collection.Host, collection.Site}[random.IntN(3)], Depth: random.IntN(5) - 1}
		again := slices.ContainsFunc(own.Seeds, func(s collection.Seed) bool { return s.URL == seed.URL })
		publish(func(c *collection.Collection) { *c = c.With([]collection.Seed{seed}) })
		return fmt.Sprintf("the seed %+v", seed), !again
	case 6:
		publish(func(c *collection.Collection) { c.Sitemaps = append(slices.Clip(c.Sitemaps), at.URL+".xml") })
		return "a sitemap", true
	case 7:
		newest := w.inForce.Takedowns.Hidden().Version
		if newest == 0 {
			return "nothing to take back", true
		}
		entries, err := takedown.Added(w.t.Context(), w.bucket, 1+random.Uint64N(newest))
		w.must(err)
		if len(entries) > 0 { // else a version that took something back
			_, err = takedown.Undo(w.t.Context(), w.bucket, math.MaxUint64, entries...)
			w.must(err)
		}
		return fmt.Sprintf("%d takedowns are taken back", len(entries)), true
	case 8:
		w.clock.Advance(time.Second)
		publish(func(c *collection.Collection) {
			c.Again = w.clock.Now()
			if random.IntN(2) == 0 {
				c.Renew = c.Again
			}
		})
		return "a crawl begins again", true
	default:
		publish(func(c *collection.Collection) {
			c.Exclude = append(slices.Clip(c.Exclude), fmt.Sprintf("*/%d", random.IntN(8)))
		})
		return "a pattern", false
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestFollow makes random changes of the settings of a random crawl. After each change, the frontiers must be the
// same as after a rebuild from the same bucket: the same URLs in the same states, and the same hosts. A change
// that the frontiers can follow must not begin a new epoch.
func TestFollow(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			w := newWorld(t, redistest.Server(t))
			crawlAtRandom(w, random)
			if seed%4 == 3 {
				w.beside("wide", collection.Seed{URL: "http://three.example/a/", Scope: collection.Prefix, Depth: collection.Unlimited}, nil)
			}
			w.run()
			for step := range 8 {
				before := w.frontier(0).Epoch
				what, follows := w.change(random)
				w.read()
				w.run()
				if diff := cmp.Diff(w.rebuilt(), w.picture()); diff != "" {
					t.Fatalf("step %d: %s (-rebuilt +followed):\n%s", step, what, diff)
				}
				if epoch := w.frontier(0).Epoch; (epoch == before) != follows {
					t.Errorf("step %d: %s: epoch %d after %d, want a new one %v", step, what, epoch, before, !follows)
				}
			}
		})
	}
}

// TestAnotherFollows sweeps while another process changes the frontiers, which ends a little later. Nothing must be
// rebuilt.
func TestAnotherFollows(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.run()
	before := w.frontier(0).Epoch
	leases := lease.New(w.Redis, "another")
	held, _, err := leases.Acquire(t.Context(), "rebuild", w.clock.Now(), leaseTime)
	w.must(err)
	functionstest.Republish(t, w.bucket, w.inForce.Collection(functionstest.Collection), func(c *collection.Collection) {
		*c = c.With([]collection.Seed{{URL: "http://three.example/", Scope: collection.Site, Depth: 1}})
	})
	w.read()
	w.Bucket = faultblob.New(w.bucket, func(faultblob.Call) faultblob.Fault {
		w.must(leases.Release(t.Context(), held))
		return faultblob.None
	})
	w.must(w.Refresh(t.Context(), w.inForce))
	if epoch, err := frontier.New(w.Redis, 0).Epoch(t.Context()); err != nil || epoch != before {
		t.Errorf("epoch %d after %d, %v: the frontier was rebuilt", epoch, before, err)
	}
}

// TestCrawlBeginsAgain publishes a collection as a crawl that begins does. When the frontiers have followed, the URL must wait
// that has failed and, if the crawl renews pages, the stored one, which is in the spool: else the crawl would seem to
// have ended. Nothing is rebuilt.
func TestCrawlBeginsAgain(t *testing.T) {
	for renew, want := range map[bool]frontier.Counts{false: {Again: 1}, true: {Again: 2}} {
		w := newWorld(t, redistest.Server(t))
		w.run()
		before := w.frontier(0).Epoch
		w.clock.Advance(time.Second)
		functionstest.Republish(t, w.bucket, w.inForce.Collection(functionstest.Collection), func(c *collection.Collection) {
			if c.Again = w.clock.Now(); renew {
				c.Renew = c.Again
			}
		})
		w.read()
		w.must(w.Refresh(t.Context(), w.inForce))
		var got frontier.Counts
		for crawl := range 2 {
			got.Again += w.frontier(crawl).Counts.Again
		}
		if got != want || w.frontier(0).Epoch != before {
			t.Errorf("renew %v: %d wait again in epoch %d, want %d in epoch %d", renew, got.Again, w.frontier(0).Epoch, want.Again, before)
		}
	}
}

// divide publishes a next version of a strategy.
func (w *world) divide(kind rules.Kind, change func(newest rules.Document, unused int) ([]rules.Rule, error)) {
	w.t.Helper()
	_, err := rules.Change(w.t.Context(), w.bucket, kind, functionstest.Start, change)
	w.must(err)
	w.read()
}

// TestDivided splits and joins partitions of both kinds. A change of storage partitions must rebuild no frontier, one of
// crawl partitions only those of the partitions that gain or lose URLs. Each time the frontiers must be the same as
// after a rebuild of all.
func TestDivided(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	crawlAtRandom(w, rand.New(rand.NewPCG(5, 0)))
	w.run()
	split := func(partition int, at layout.Place) func(rules.Document, int) ([]rules.Rule, error) {
		return func(newest rules.Document, unused int) ([]rules.Rule, error) {
			return newest.Split(partition, unused, at)
		}
	}
	join := func(from, into int) func(rules.Document, int) ([]rules.Rule, error) {
		return func(newest rules.Document, _ int) ([]rules.Rule, error) { return newest.Join(from, into) }
	}
	for i, step := range []struct {
		kind   rules.Kind
		change func(rules.Document, int) ([]rules.Rule, error)
		want   []int // partitions whose frontiers are rebuilt
	}{
		{rules.Storage, split(0, 1<<62), nil},
		{rules.Crawl, split(0, 1<<62), []int{0, 2}},
		{rules.Storage, join(2, 1), nil},
		{rules.Crawl, join(1, 2), []int{2}},
		{rules.Crawl, split(2, 1<<63), []int{2, 3}},
	} {
		before, epochs := w.inForce.Fingerprint(), make(map[int]uint64)
		for _, crawl := range w.inForce.Crawl.Partitions() {
			epochs[crawl] = w.frontier(crawl).Epoch
		}
		w.divide(step.kind, step.change)
		w.run()
		if diff := cmp.Diff(w.rebuilt(), w.picture()); diff != "" {
			t.Fatalf("step %d (-rebuilt +divided):\n%s", i, diff)
		}
		rebuilt := slices.DeleteFunc(w.inForce.Crawl.Partitions(), func(crawl int) bool { return w.frontier(crawl).Epoch == epochs[crawl] })
		if !slices.Equal(step.want, rebuilt) {
			t.Errorf("step %d: rebuilt are %v, want %v", i, rebuilt, step.want)
		}
		for crawl := range 4 { // a process with older settings must lease nothing
			if err := frontier.New(w.Redis, crawl).Built(t.Context(), before); !errors.Is(err, frontier.ErrNotBuilt) {
				t.Errorf("step %d: frontier %d serves under older settings: %v", i, crawl, err)
			}
		}
	}
}

// TestFollowerDies kills the process that changes the frontiers, after each of its commands in turn. The next
// sweep must complete the change.
func TestFollowerDies(t *testing.T) {
	for n := 0; ; n++ {
		rdb, random := redistest.Server(t), rand.New(rand.NewPCG(7, 7))
		hook := new(dyingHook)
		rdb.AddHook(hook)
		w := newWorld(t, rdb)
		crawlAtRandom(w, random)
		w.run()
		for _, url := range []string{one + "a/1", two + "b/2"} {
			at, err := address.Parse(url)
			w.must(err)
			_, err = takedown.Forget(t.Context(), w.bucket, takedown.URL(at, w.clock.Now()), takedown.Site("four.example", w.clock.Now()))
			w.must(err)
		}
		functionstest.Republish(t, w.bucket, w.inForce.Collection(functionstest.Collection), func(c *collection.Collection) {
			*c = c.With([]collection.Seed{{URL: "http://three.example/a/", Scope: collection.Site, Depth: collection.Unlimited}})
		})
		w.read()
		died := w.sweepDies(hook, n)
		for crawl := range 2 {
			w.must(frontier.New(rdb, crawl).Built(t.Context(), w.inForce.Fingerprint()))
		}
		if !died {
			break
		}
	}
}

// TestDividerDies kills the process that follows a join of two crawl partitions, after every third of its commands in
// turn. The next sweep must complete it.
func TestDividerDies(t *testing.T) {
	for n := 0; ; n += 3 {
		rdb, hook := redistest.Server(t), new(dyingHook)
		rdb.AddHook(hook)
		w := newWorld(t, rdb)
		w.divide(rules.Crawl, func(newest rules.Document, unused int) ([]rules.Rule, error) { return newest.Split(1, unused, 3<<62) })
		w.run()
		w.divide(rules.Crawl, func(newest rules.Document, _ int) ([]rules.Rule, error) { return newest.Join(1, 0) })
		if !w.sweepDies(hook, n) {
			break
		}
	}
}

// sweepDies kills the sweep after the given number of commands that it sends to Redis, and reports whether it sent more.
// The next sweep must make the frontiers what a rebuild makes of them.
func (w *world) sweepDies(hook *dyingHook, commands int) bool {
	w.t.Helper()
	left := commands
	hook.set(func(redis.Cmder) bool {
		left--
		return left < 0
	})
	died := w.sweep() != nil
	hook.set(nil)
	w.clock.Advance(leaseTime)
	w.run()
	if diff := cmp.Diff(w.rebuilt(), w.picture()); diff != "" {
		w.t.Fatalf("died after %d commands (-rebuilt +swept):\n%s", commands, diff)
	}
	return died
}

// TestNoSettleMeanwhile stops a change of frontiers to new settings half-way. Pack must then settle nothing,
// neither under the old settings nor under the new ones. If the settings change once more, the frontiers must be
// rebuilt.
func TestNoSettleMeanwhile(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.run()
	before := w.inForce
	seed := func(url string) {
		functionstest.Republish(t, w.bucket, w.inForce.Collection(functionstest.Collection), func(c *collection.Collection) {
			*c = c.With([]collection.Seed{{URL: url, Scope: collection.Site, Depth: collection.Unlimited}})
		})
		w.read()
	}
	seed("http://three.example/")
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op != faultblob.List || !strings.HasPrefix(c.Key, "spool/") {
			return faultblob.None
		}
		for _, s := range []*settings.Settings{before, w.inForce} {
			if err := frontier.New(w.Redis, 0).Under(s.Fingerprint()).Learning(t.Context(), 0, "a", "b"); !errors.Is(err, frontier.ErrNotBuilt) {
				t.Errorf("a call under %s: %v, want ErrNotBuilt", s.Fingerprint(), err)
			}
		}
		return faultblob.Before // the process dies here
	})
	if err := w.sweep(); err == nil {
		t.Error("no error")
	}
	w.Bucket = w.bucket
	w.clock.Advance(leaseTime)
	seed("http://four.example/")
	w.run()
	if diff := cmp.Diff(w.rebuilt(), w.picture()); diff != "" {
		t.Errorf("(-rebuilt +followed):\n%s", diff)
	}
	if epoch := w.frontier(0).Epoch; epoch != 3 {
		t.Errorf("epoch %d, want 3", epoch)
	}
}
