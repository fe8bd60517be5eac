package restore

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/run"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// finished returns the number of finished URLs in the Redis of a crawl partition.
func (w *world) finished(crawl int) (n int64) {
	w.t.Helper()
	for _, state := range redistest.Known(w.t, w.Redis, crawl) {
		if strings.ContainsRune("skf", rune(state[0])) {
			n++
		}
	}
	return n
}

// retire does what the sweep does with finished URLs, and returns the number of requests to the bucket for it.
func (w *world) retire() int64 {
	w.t.Helper()
	counted := countblob.New(w.bucket)
	w.Bucket = counted
	defer func() { w.Bucket = w.bucket }()
	if err := w.Retire(w.t.Context(), w.inForce); err != nil {
		w.t.Fatal(err)
	}
	c := counted.Counts()
	return c.Get + c.Put + c.List
}

// TestRetire: a frontier with many finished URLs is rebuilt. Redis holds few of them, also during the rebuild, and the
// frontier is the same as one that holds all. A sweep moves those that finished later, if there are many.
func TestRetire(t *testing.T) {
	const urls, most = 3000, 200
	whole, small := largeWorld(t, urls), largeWorld(t, urls)
	small.Finished = most
	for _, w := range []*world{whole, small} {
		w.run()
	}
	held := int64(0)
	for crawl := range 2 {
		if diff := cmp.Diff(whole.frontier(crawl), small.frontier(crawl)); diff != "" {
			t.Errorf("frontiers of crawl partition %d differ: %s", crawl, diff)
		}
		if n := small.finished(crawl); n > most {
			t.Errorf("Redis holds %d finished URLs of crawl partition %d, want at most %d", n, crawl, most)
		}
		held += whole.finished(crawl)
	}
	if held < 4*most || len(functionstest.Keys(t, whole.bucket, layout.Runs)) > 0 {
		t.Errorf("%d finished URLs in Redis, want all of them, and no runs", held)
	}
	if n := small.retire(); n != 0 {
		t.Errorf("%d requests to the bucket, although Redis holds few finished URLs", n)
	}

	// More URLs finish.
	fronts := make(map[int][]frontier.Known)
	for i := range 4 * most {
		o := functionstest.Outcome(t, version(60), largeURL(urls, 90+i/10*100+i%10), book.Stored)
		crawl := crawlOf(t, small, o)
		fronts[crawl] = append(fronts[crawl], frontier.Known{ID: o.Identity(), Place: o.Place, Version: o.Version, State: o.State})
	}
	for crawl, finals := range fronts {
		if err := frontier.New(small.Redis, crawl).WithRuns(small.bucket).Mark(t.Context(), finals); err != nil {
			t.Fatal(err)
		}
	}
	if n := small.retire(); n == 0 || small.finished(0)+small.finished(1) > 2*most {
		t.Errorf("%d requests to the bucket, and %d finished URLs in Redis", n, small.finished(0)+small.finished(1))
	}
	if n := small.retire(); n != 0 {
		t.Errorf("%d requests to the bucket, although nothing finished since the last sweep", n)
	}

	// All frontiers share what was read of the runs.
	counted := countblob.New(small.bucket)
	small.Bucket = counted
	search := func() int64 {
		before := counted.Counts().Get
		lead := leads{Frontiers: small.Frontiers, settings: small.inForce}
		for i := range urls {
			o := functionstest.Outcome(t, version(60), largeURL(urls, i), book.Stored)
			lead.last, lead.to = append(lead.last, o), append(lead.to, []run.URL{{Site: o.Place.Site(), ID: o.Identity()}})
		}
		if _, err := lead.found(t.Context()); err != nil {
			t.Fatal(err)
		}
		return counted.Counts().Get - before
	}
	if first, again := search(), search(); first == 0 || again > 0 {
		t.Errorf("%d requests for URLs in runs, and %d when they were sought again, want some and none", first, again)
	}
}

// crawlOf returns the crawl partition of an outcome's URL.
func crawlOf(t *testing.T, w *world, o book.Outcome) int {
	t.Helper()
	at, err := address.Parse(o.URL)
	if err != nil {
		t.Fatal(err)
	}
	crawl, err := w.inForce.Crawl.Decide(at)
	if err != nil {
		t.Fatal(err)
	}
	return crawl
}
