package schedule

import (
	"encoding/json"
	"fmt"
	"strings"
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
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// TestTargets checks that the targets of batches, the URLs to fetch, have all the data that the
// frontier holds about these URLs.
func TestTargets(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, nil)
		w.enter(frontier.Entry{URL: site + "new", Depth: 2, Hops: 1, Weight: 9, Collection: "a"})
		w.enter(frontier.Entry{URL: site + "sitemap.xml", Sitemap: true, Collection: "b"})
		look := batch.Look{Time: functionstest.Start, ETag: `"1"`, Modified: "yesterday", Digest: 1 << 63, Missing: true}
		w.again(frontier.Entry{URL: site + "stored", Depth: 3, Exponent: -2, Collection: "c", Last: &look})
		want := map[string]batch.Target{
			"new":         {URL: site + "new", Depth: 2, Hops: 1, Weight: 9, Collections: []string{"a"}},
			"sitemap.xml": {URL: site + "sitemap.xml", Sitemap: true, Collections: []string{"b"}},
			"stored":      {URL: site + "stored", Depth: 3, Exponent: -2, Collections: []string{"c"}, Last: &look},
		}
		got := make(map[string]batch.Target)
		for _, b := range w.run() {
			for _, target := range b.Targets {
				got[strings.TrimPrefix(target.URL, site)] = target
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("targets (-want +got):\n%s", diff)
		}
	})
}

// again enters a page that has been stored earlier into the frontier, and makes it wait to be
// requested again.
func (w *world) again(e frontier.Entry) {
	w.t.Helper()
	a := w.parse(e.URL)
	e.URL, e.ID, e.Host = a.URL, a.ID, a.Host
	front, version := frontier.New(w.Redis, 0), layout.Version{Epoch: 1}
	if err := front.Mark(w.t.Context(), []frontier.Known{{ID: e.ID, Place: a.Place, Version: version, State: book.Stored}}); err != nil {
		w.t.Fatal(err)
	}
	n, err := front.Renew(w.t.Context(), w.clock.Now(), []frontier.Due{{Entry: e, Version: version}})
	if err != nil || n != 1 {
		w.t.Fatalf("%d pages wait again, %v", n, err)
	}
}

// TestDelayOfCollections checks that a batch keeps the longest delay that the collections of its
// URLs require, and has only as many URLs as it has time for. The other URLs must be in the next
// batch.
func TestDelayOfCollections(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	w.publish("slow", func(c *collection.Collection) { c.Delay = collection.Duration(5 * time.Second) })
	w.publish("slower", func(c *collection.Collection) { c.Delay = collection.Duration(9500 * time.Millisecond) })
	for i := range 30 {
		for host, names := range map[string][]string{"a": {functionstest.Collection}, "b": {functionstest.Collection, "slow"}, "c": {"slower"}} {
			w.enter(frontier.Entry{URL: fmt.Sprintf("http://%s.example/%d", host, i), Collection: names[i%len(names)]})
		}
	}
	want := map[string][]int64{"a.example": {0, 30}, "b.example": {5000, 10}, "c.example": {9500, 6}}
	for round := range 2 {
		got := make(map[string][]int64)
		for _, b := range w.run() {
			got[b.Host] = []int64{b.DelayMillis, int64(len(b.Targets))}
			if first := fmt.Sprintf("http://%s/%d", b.Host, round*len(b.Targets)); b.Targets[0].URL != first {
				t.Errorf("round %d: %s comes first, want %s", round, b.Targets[0].URL, first)
			}
			w.settle(b)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("round %d: delay and targets (-want +got):\n%s", round, diff)
		}
		delete(want, "a.example")
	}
}

// TestLongValidators requests pages again whose ETag and Last-Modified have the greatest length,
// and checks that no message becomes too long.
func TestLongValidators(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	look := batch.Look{Time: functionstest.Start, ETag: strings.Repeat("\x01", 255), Modified: strings.Repeat(`"`, 255)}
	for i := range 80 {
		w.again(frontier.Entry{URL: fmt.Sprint(site, i), Collection: functionstest.Collection, Last: &look})
	}
	total := 0
	for batches := w.run(); len(batches) > 0; batches = w.run() { // run checks the length of the message
		for _, b := range batches {
			total += len(b.Targets)
			w.settle(b)
		}
		w.clock.Advance(time.Second)
	}
	if total != 80 {
		t.Errorf("%d were asked for, want 80", total)
	}
}

// TestSize encodes a target in which every field has its longest value. The encoded target must not be
// longer than the estimate that the function "size" returns for it.
func TestSize(t *testing.T) {
	long := strings.Repeat("\x01", 255)
	look := &batch.Look{Time: functionstest.Start.Add(-1), ETag: long, Modified: long, Digest: 1<<64 - 1, Body: 1<<64 - 1, Missing: true}
	for i := range book.MaxCollections {
		look.Collections = append(look.Collections, fmt.Sprintf("%063d", i))
	}
	u := candidate{Entry: frontier.Entry{
		URL: site + strings.Repeat(`\`, 2000), Collection: look.Collections[0], Sitemap: true,
		Depth: 65535, Hops: 255, Weight: 255, Attempts: 255, Exponent: -32768, Last: look,
	}}
	body, err := json.Marshal(u.target(membership.HostFull))
	if err != nil {
		t.Fatal(err)
	}
	if len(body) > size(u) {
		t.Errorf("%d bytes of a target are counted as %d", len(body), size(u))
	}
}
