package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestLimits crawls with collections that limit the number of pages. As many pages must be
// requested as the limits allow. All other URLs must be denied, with the limit as the reason.
func TestLimits(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*collection.Collection)
		path   string // path of the i-th page
		want   map[string]int
	}{
		{"none", func(c *collection.Collection) { c.PatternPages = -1 }, "%d", map[string]int{"": 150}},
		{"pages of a host", func(c *collection.Collection) { c.HostPages = 7 }, "%d", map[string]int{"": 7, "pages of the host": 143}},
		{"pages alike", func(c *collection.Collection) { c.PatternPages = 9 }, "calendar/%d", map[string]int{"": 9, "pages alike": 141}},
		{"words are not alike", func(c *collection.Collection) { c.PatternPages = 9 }, "%c-word", map[string]int{"": 150}},
		{"the lower one", func(c *collection.Collection) { c.HostPages, c.PatternPages = 120, 20 }, "%d", map[string]int{"": 20, "pages alike": 130}},
		{"more than a batch", func(c *collection.Collection) { c.HostPages = 130 }, "%d", map[string]int{"": 130, "pages of the host": 20}},
	} {
		limited := func(t *testing.T, ahead bool) {
			w := newWorld(t, redistest.Server(t), test.change)
			w.Limits.Ahead = ahead
			for i := range 150 {
				w.enter(frontier.Entry{URL: fmt.Sprintf(site+test.path, '一'+i), Collection: functionstest.Collection})
			}
			got := make(map[string]int)
			for batches := w.run(); len(batches) > 0; batches = w.run() {
				for _, b := range batches {
					for _, target := range b.Targets {
						got[target.Denied]++
					}
					w.settle(b)
				}
				w.clock.Advance(time.Second)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("targets by reason (-want +got):\n%s", diff)
			}
		}
		t.Run(test.name, func(t *testing.T) { limited(t, false) })
		t.Run(test.name+", ahead", func(t *testing.T) { limited(t, true) })
	}
}

// TestLimitsOfOthers checks that a limit of pages holds for each host and each collection
// separately. The limit must deny neither stored pages, which are requested again, nor sitemaps.
func TestLimitsOfOthers(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		limit := func(c *collection.Collection) { c.HostPages = 1 }
		w := newWorld(t, rdb, limit)
		w.publish("other", limit)
		w.admit(1, "")
		for _, b := range w.run() {
			w.settle(b)
		}
		w.enter(frontier.Entry{URL: site + "new", Collection: functionstest.Collection})
		w.enter(frontier.Entry{URL: site + "other", Collection: "other"})
		w.enter(frontier.Entry{URL: "http://b.example/", Collection: functionstest.Collection})
		w.enter(frontier.Entry{URL: site + "sitemap.xml", Sitemap: true, Collection: functionstest.Collection})
		w.again(frontier.Entry{URL: site + "stored", Collection: functionstest.Collection, Last: &batch.Look{Time: functionstest.Start}})
		want := map[string]string{
			site + "new": "pages of the host", site + "other": "", "http://b.example/": "", site + "sitemap.xml": "", site + "stored": "",
		}
		if diff := cmp.Diff(want, deniedIn(w.run())); diff != "" {
			t.Errorf("denied (-want +got):\n%s", diff)
		}
	})
}

// page returns the i-th URL of a second test host. Of two hosts with waiting URLs, schedule leases
// this one first.
func page(i int) string { return fmt.Sprint("http://0.example/", i) }

// store enters the URLs of n pages, page(0) to page(n-1), into the frontier as stored.
func (w *world) store(n int) {
	w.t.Helper()
	tallies := []string{w.inForce.CollectionTally(functionstest.Collection)}
	var known []frontier.Known
	for i := range n {
		at := w.parse(page(i))
		known = append(known, frontier.Known{ID: at.ID, Place: at.Place, Version: layout.Version{Epoch: 1}, State: book.Stored, Tallies: tallies})
	}
	if err := frontier.New(w.Redis, 0).Mark(w.t.Context(), known); err != nil {
		w.t.Fatal(err)
	}
}

// due makes a range of the stored pages wait to be requested again. The range includes its
// beginning, and excludes its end.
func (w *world) due(from, to int) {
	w.t.Helper()
	for i := from; i < to; i++ {
		w.again(frontier.Entry{URL: page(i), Collection: functionstest.Collection, Last: &batch.Look{Time: functionstest.Start}})
	}
}

// expect runs schedule, and compares the batches that it sends with the expected ones. An expected
// batch is given by two numbers: how many new pages it must have, and how many stored pages that
// are requested again.
func (w *world) expect(name string, want ...[2]int) []batch.Batch {
	w.t.Helper()
	batches := w.run()
	var got [][2]int
	for _, b := range batches {
		var n [2]int
		for _, target := range b.Targets {
			if target.Last == nil {
				n[0]++
			} else {
				n[1]++
			}
		}
		got = append(got, n)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("%s: new targets and others of each batch (-want +got):\n%s", name, diff)
	}
	return batches
}

// TestAskedAgainAtTheLimit has a collection with a limit of pages. Exactly as many pages as it
// allows must be stored. When the limit is reached, stored pages must still be requested again, and
// the remaining URLs must be parked: pending, but not requested.
func TestAskedAgainAtTheLimit(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, func(c *collection.Collection) { c.Pages = 60 })
		settle := func(batches []batch.Batch) {
			for _, b := range batches {
				w.settle(b)
			}
			w.clock.Advance(time.Second)
		}
		w.store(25)
		w.due(0, 20)
		w.admit(70, "")
		last := w.expect("below the limit", [2]int{0, 20}, [2]int{35, 0})
		if c := functionstest.Counts(t, rdb, 0); c.Waiting != 35 || c.Parked != 0 {
			t.Errorf("%+v, want 35 to wait for what the last bring", c)
		}
		settle(last)
		w.expect("at the limit")
		if c := functionstest.Counts(t, rdb, 0); c.Waiting != 0 || c.Parked != 35 {
			t.Errorf("%+v, want 35 to be parked", c)
		}
		w.due(20, 25)
		batches := w.expect("at the limit, with pages that are due", [2]int{0, 5})
		w.expect("while they are out")
		batches[0].Targets[0].Denied = "gone"
		settle(batches)
		w.expect("a page less")
		w.admit(70, "") // new links to the same URLs
		settle(w.expect("what is not parked any more", [2]int{1, 0}))
		w.expect("at the limit again")
		want := frontier.Counts{Parked: 34, Stored: 60, Skipped: batch.MaxTargets + 1}
		if diff := cmp.Diff(want, functionstest.Counts(t, rdb, 0)); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	})
}

// TestAskedAgainBelowTheLimit checks that twenty stored pages are requested again, though the limit
// of their collection allows only one more new page.
func TestAskedAgainBelowTheLimit(t *testing.T) {
	w := newWorld(t, redistest.Server(t), func(c *collection.Collection) { c.Pages = 26 })
	w.store(25)
	w.due(0, 20)
	w.expect("one to the limit", [2]int{0, 20})
}
