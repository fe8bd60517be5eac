package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestLimits stores as many pages as collections allow, exactly, and denies the
// others with the reason.
func TestLimits(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*collection.Collection)
		path   string // of the i-th page
		want   map[string]int
	}{
		{"none", func(c *collection.Collection) { c.PatternPages = -1 }, "%d", map[string]int{"": 150}},
		{"pages of a host", func(c *collection.Collection) { c.HostPages = 7 }, "%d", map[string]int{"": 7, "pages of the host": 143}},
		{"pages alike", func(c *collection.Collection) { c.PatternPages = 9 }, "calendar/%d", map[string]int{"": 9, "pages alike": 141}},
		{"words are not alike", func(c *collection.Collection) { c.PatternPages = 9 }, "%c-word", map[string]int{"": 150}},
		{"the lower one", func(c *collection.Collection) { c.HostPages, c.PatternPages = 120, 20 }, "%d", map[string]int{"": 20, "pages alike": 130}},
		{"more than a batch", func(c *collection.Collection) { c.HostPages = 130 }, "%d", map[string]int{"": 130, "pages of the host": 20}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, redistest.Embedded(t), test.change)
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
		})
	}
}

// TestLimitsOfOthers: hosts and collections have limits of their own, and
// neither pages that are stored nor sitemaps are denied.
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
		if diff := cmp.Diff(want, denied(w.run())); diff != "" {
			t.Errorf("denied (-want +got):\n%s", diff)
		}
	})
}
