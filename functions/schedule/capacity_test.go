package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// crawl runs the crawl in all partitions until nothing is left to request: it leases batches, and
// settles them with made up outcomes. Every fail-th URL fails; with 0, none does. It returns the
// number of stored pages of each collection.
func (w *world) crawl(fail int) map[string]int {
	w.t.Helper()
	stored, n := make(map[string]int), 0
	for idle := 0; idle < 3; w.clock.Advance(time.Second) {
		idle++
		var out []batch.Batch
		for _, crawl := range w.inForce.Crawl.Partitions() {
			if err := w.Run(w.t.Context(), task.Lease{Crawl: crawl}); err != nil {
				w.t.Fatal(err)
			}
			out = append(out, w.sent()...)
		}
		for _, b := range out {
			idle = 0
			for i := range b.Targets {
				if n++; fail > 0 && n%fail == 0 {
					b.Targets[i].Denied = "it cannot be had"
				} else {
					stored[b.Targets[i].Collections[0]]++
				}
			}
			w.settle(b)
		}
	}
	return stored
}

func (w *world) counts() (sum frontier.Counts) {
	for _, crawl := range w.inForce.Crawl.Partitions() {
		c := functionstest.Counts(w.t, w.Redis, crawl)
		sum.Waiting, sum.Leased, sum.Parked = sum.Waiting+c.Waiting, sum.Leased+c.Leased, sum.Parked+c.Parked
	}
	return sum
}

func pages(n int64) func(*collection.Collection) {
	return func(c *collection.Collection) { c.Pages, c.PatternPages = n, collection.Unlimited }
}

// TestPagesOfAllPartitions checks that a collection stores exactly as many pages as its limit
// allows, over all crawl partitions and hosts together, even if every fourth URL fails.
func TestPagesOfAllPartitions(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, nil)
		w.Settings.Bucket = memblob.New()
		w.inForce = functionstest.Publish(t, w.bucket(), 2, pages(120), site)
		functionstest.Open(t, w.Redis, w.inForce, 2)
		var urls []string
		for i := range 300 {
			urls = append(urls, fmt.Sprintf("http://%d.example/%d", i%7, i))
		}
		functionstest.Admit(t, rdb, w.inForce, urls...)
		got := w.crawl(4)
		if diff := cmp.Diff(map[string]int{functionstest.Collection: 120}, got); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(frontier.Counts{Parked: 300 - 120/3*4 + 1}, w.counts()); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	})
}

// TestPagesOfEachCollection has two collections with different limits on one host, and one without
// a limit. When the first two have reached their limits, all URLs of the third must still be
// crawled.
func TestPagesOfEachCollection(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, pages(40))
		w.publish("endless", pages(0))
		w.publish("few", pages(7))
		for i := range 450 {
			w.enter(frontier.Entry{
				URL: fmt.Sprint(site, i), Depth: uint16(i / 100),
				Collection: []string{functionstest.Collection, "endless", "few"}[i/10%3],
			})
		}
		want := map[string]int{functionstest.Collection: 40, "endless": 150, "few": 7}
		if diff := cmp.Diff(want, w.crawl(0)); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(frontier.Counts{Parked: 300 - 47}, w.counts()); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	})
}

// TestMorePages raises the limit of a collection and rebuilds the frontier. The URLs that were
// parked (pending, but not requested) must then be requested.
func TestMorePages(t *testing.T) {
	w := newWorld(t, redistest.Server(t), pages(20))
	w.admit(50, "")
	first := w.crawl(0)
	front := frontier.New(w.Redis, 0)
	var pending []string
	for id, err := range front.Pending(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			if url := fmt.Sprint(site, i); layout.IdentityOf(url) == id {
				pending = append(pending, url)
			}
		}
	}
	if len(pending) != 30 {
		t.Fatalf("%d URLs are pending, want 30", len(pending))
	}
	w.inForce = functionstest.Republish(t, w.bucket(), w.inForce.Collections[0], pages(45))
	if err := front.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.store(first[functionstest.Collection]) // as many pages as were stored before
	functionstest.Admit(t, w.Redis, w.inForce, pending...)
	functionstest.Open(t, w.Redis, w.inForce, 2)
	if diff := cmp.Diff(map[string]int{functionstest.Collection: 25}, w.crawl(0)); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(frontier.Counts{Parked: 5}, w.counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// TestAssetsBesidePages checks that assets do not count towards the limit of pages, are requested
// even when it is reached, and have a limit of their own.
func TestAssetsBesidePages(t *testing.T) {
	w := newWorld(t, redistest.Server(t), func(c *collection.Collection) {
		c.Pages, c.PatternPages, c.Assets = 2, collection.Unlimited, true
	})
	for i := range 100 {
		w.enter(frontier.Entry{URL: fmt.Sprint(site, i), Depth: uint16(1 + i%2), Collection: functionstest.Collection, Asset: i%2 == 1})
	}
	var asPages, assets, denied int
	for batches := w.run(); len(batches) > 0; batches = w.run() {
		for _, b := range batches {
			s := frontier.Settlement{Version: b.Version, Host: b.Host, Ended: w.clock.Now()}
			for _, target := range b.Targets {
				at := w.parse(target.URL)
				o := book.Outcome{State: book.Stored, Collections: target.Collections, Asset: target.Depth == 2}
				switch {
				case target.Denied != "":
					o.State = book.Skipped
					denied++
				case o.Asset:
					assets++
				default:
					asPages++
				}
				r := frontier.Result{ID: at.ID, Place: at.Place, State: o.State}
				if o.State == book.Stored {
					r.Tallies = w.inForce.Tallies(o, at)
				}
				s.Outcomes = append(s.Outcomes, r)
			}
			if _, err := frontier.New(w.Redis, 0).Settle(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		w.clock.Advance(time.Hour)
	}
	if asPages != 2 || assets != 40 || denied != 10 {
		t.Errorf("%d pages, %d assets, %d denied, want 2, 40 and 10", asPages, assets, denied)
	}
	if diff := cmp.Diff(frontier.Counts{Parked: 48}, w.counts()); diff != "" {
		t.Error(diff)
	}
}

// TestParkedWhileResting has a collection that has reached its limit of pages, and a host that must
// not be sent requests for a day. The other URLs of the collection must be parked at once, and not
// only when requests to the host are allowed again. Then no URL waits any more, and the crawl has
// ended.
func TestParkedWhileResting(t *testing.T) {
	w := newWorld(t, redistest.Server(t), pages(1))
	w.admit(9, "")
	b := w.run()[0]
	s := frontier.Settlement{Version: b.Version, Host: b.Host, Ended: w.clock.Now(), Rest: w.clock.Now().Add(24 * time.Hour)}
	at := w.parse(b.Targets[0].URL)
	s.Outcomes = []frontier.Result{{
		ID: at.ID, Place: at.Place, State: book.Stored,
		Tallies: w.inForce.Tallies(book.Outcome{Collections: b.Targets[0].Collections}, at),
	}}
	if _, err := frontier.New(w.Redis, 0).Settle(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if batches := w.run(); batches != nil {
		t.Errorf("leased %+v, want nothing", batches)
	}
	if diff := cmp.Diff(frontier.Counts{Parked: 8}, w.counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// TestSitemapsWait checks that no sitemap is requested while too many URLs of its host wait.
func TestSitemapsWait(t *testing.T) {
	// so that 1,000 URLs may wait
	w := newWorld(t, redistest.Server(t), func(c *collection.Collection) { c.Pages = 1 })
	for i := range 1200 {
		w.enter(frontier.Entry{URL: fmt.Sprint(site, i), Depth: 1, Collection: functionstest.Collection, Sitemap: i < 100})
	}
	for _, b := range w.run() {
		for _, target := range b.Targets {
			if target.Sitemap {
				t.Fatalf("%s is asked for while 1,199 wait", target.URL)
			}
		}
	}
}

// TestProcessesShareHosts checks how many batches are leased by processes that share hosts.
func TestProcessesShareHosts(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	for host := range 9 {
		functionstest.Admit(t, w.Redis, w.inForce, fmt.Sprintf("http://h%d.a.example/", host))
	}
	batches := func() int { return int(functionstest.Counts(t, w.Redis, 0).Batches) }
	for i, step := range []struct{ processes, want int }{{2, 5}, {3, 3}, {3, 1}} { // each is a process that has no batches yet
		others := batches()
		w.Share = func() (own, processes int) { return batches() - others, step.processes }
		if got := len(w.run()); got != step.want {
			t.Errorf("step %d: %d batches, want %d", i, got, step.want)
		}
	}
}
