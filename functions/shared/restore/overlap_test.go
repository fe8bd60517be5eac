package restore

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// beside publishes a further collection with one seed.
func (w *world) beside(name string, seed collection.Seed, change func(*collection.Collection)) {
	w.t.Helper()
	w.inForce = functionstest.Republish(w.t, w.bucket, collection.Collection{
		Name: name, HostConnections: 1, Agent: "testbot/1.0", Seeds: []collection.Seed{seed},
	}, change)
}

// TestAnotherCollection stores pages for one collection, publishes a second collection, and runs a
// sweep. It checks which of the stored pages are queued for another request because the second
// collection wants them.
func TestAnotherCollection(t *testing.T) {
	const another = "another"
	for _, test := range []struct {
		name   string
		seed   collection.Seed
		change func(*collection.Collection)
		want   map[string]uint16 // depths of the URLs that wait again
	}{
		{"a directory", collection.Seed{URL: one + "a/", Scope: collection.Prefix, Depth: collection.Unlimited}, nil,
			map[string]uint16{one + "a/": 0, one + "a/1": 1, one + "a/2": 1}},
		{"three pages", collection.Seed{URL: one + "a/", Scope: collection.Prefix, Depth: collection.Unlimited},
			func(c *collection.Collection) { c.Pages = 3 }, map[string]uint16{one + "a/": 0}}, // the new collection finds the others by links
		{"few links", collection.Seed{URL: one + "a/1", Scope: collection.Site, Depth: 2}, nil, map[string]uint16{one + "a/1": 0}},
		{"anywhere", collection.Seed{URL: one + "b", Scope: collection.Any, Depth: collection.Unlimited}, nil, map[string]uint16{one + "b": 0}},
		{"elsewhere", collection.Seed{URL: "http://three.example/", Scope: collection.Site, Depth: collection.Unlimited}, nil, map[string]uint16{}},
	} {
		w := newWorld(t, redistest.Server(t))
		var outcomes []book.Outcome
		for i, path := range []string{"a/", "a/1", "a/2", "b"} {
			outcomes = append(outcomes, kept(t, uint64(60+i), one+path, book.Stored, 3, 0))
		}
		w.teach(0, outcomes...)
		w.run()
		if again := w.again(1); len(again) > 0 {
			t.Fatalf("%s: wait again before: %q", test.name, urlsOf(again))
		}
		w.free()
		w.beside(another, test.seed, test.change)
		w.run()
		got := make(map[string]uint16)
		for url, e := range w.again(1) {
			got[url] = e.Depth
			if e.Collection != another || e.Last.Digest != 7 || !cmp.Equal(e.Last.Collections, []string{functionstest.Collection}) {
				t.Errorf("%s: %+v, last look %+v", test.name, e, e.Last)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: wait again (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestRoomForAnother has a collection with a limit that lacks pages which are stored for another
// collection. It must request no more of these pages than its limit allows.
func TestRoomForAnother(t *testing.T) {
	for name, limit := range map[string]func(*collection.Collection){
		"pages":      func(c *collection.Collection) { c.Pages = 4 },
		"host_pages": func(c *collection.Collection) { c.Pages, c.HostPages = 6, 4 },
	} {
		t.Run(name, func(t *testing.T) { testRoom(t, limit) })
	}
}

func testRoom(t *testing.T, limit func(*collection.Collection)) {
	w := newWorld(t, redistest.Server(t))
	w.beside("few", collection.Seed{URL: one + "0", Scope: collection.Any, Depth: 3}, limit)
	var learnt book.Book
	for i := range 9 {
		o := kept(t, uint64(60+i), fmt.Sprint(one, i), book.Stored, 3, 0)
		if o.Depth = 0; i < 2 {
			o.Collections = []string{"few"}
		}
		l := functionstest.Link(t, one, o.URL, 1)
		l.Collection = "few"
		learnt.Outcomes, learnt.Links = append(learnt.Outcomes, o), append(learnt.Links, l)
	}
	functionstest.Learn(t, w.bucket, 0, learnt)
	w.run()
	few := 0
	for _, e := range w.again(1) {
		if e.Collection == "few" {
			few++
		}
	}
	if few != 2 {
		t.Errorf("%d wait, want 2 more than the 2 that it has", few)
	}
	tallies, err := frontier.New(w.Redis, 1).Tallies(t.Context(), []string{"c:few", "c:" + functionstest.Collection})
	if diff := cmp.Diff([]int64{2, 7}, tallies); err != nil || diff != "" {
		t.Errorf("stored for each (-want +got):\n%s, %v", diff, err)
	}
}

// TestRenewForAnother stores pages for two collections. One requests its pages again every hour, the
// other every day. Some of the pages are no longer admitted by the hourly collection. A page must be
// requested again as soon as it is due for a collection that still admits it. If several collections
// of the page still admit it, the request must be on behalf of the first of them.
func TestRenewForAnother(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb)
		w.beside("hourly", collection.Seed{URL: one + "x", Scope: collection.Prefix, Depth: collection.Unlimited}, func(c *collection.Collection) {
			c.Schedule, c.Exclude = "every 1h", []string{"*/old"}
		})
		var outcomes []book.Outcome
		for i, o := range []struct {
			path string
			of   []string
		}{{"new", []string{functionstest.Collection, "hourly"}}, {"old", []string{"hourly", functionstest.Collection}}, {"none", []string{"gone"}}} {
			all := kept(t, uint64(60+i), one+o.path, book.Stored, 0, 0)
			all.Collections = o.of
			outcomes = append(outcomes, all)
		}
		b := book.Book{Outcomes: outcomes}
		functionstest.Learn(t, w.bucket, layout.Partition(0), b)
		w.run()
		for _, e := range w.again(1) { // on behalf of a collection that it lacks
			if e.URL != one+"none" {
				t.Errorf("%s waits again at once", e.URL)
			}
		}
		for _, step := range []struct {
			after time.Duration
			want  map[string]string
		}{
			{time.Hour, map[string]string{one + "new": functionstest.Collection}},
			{24 * time.Hour, map[string]string{one + "old": functionstest.Collection}},
		} {
			w.clock.Advance(functionstest.Start.Add(step.after).Sub(w.clock.Now()))
			w.run()
			got := make(map[string]string)
			for url, e := range w.again(1) {
				got[url] = e.Collection
			}
			if diff := cmp.Diff(step.want, got); diff != "" {
				t.Errorf("after %v wait again, on behalf of (-want +got):\n%s", step.after, diff)
			}
		}
	})
}
