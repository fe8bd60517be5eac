package restore

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// finished returns the numbers of finished URLs in the Redis of a crawl partition.
func (w *world) finished(crawl int) int64 {
	w.t.Helper()
	n, err := frontier.New(w.Redis, crawl).Finished(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// retire does what the sweep does with finished URLs, and returns the number of requests to the bucket for it.
func (w *world) retire() int64 {
	w.t.Helper()
	counted := countblob.New(w.bucket)
	w.Bucket = counted
	defer func() { w.Bucket = w.bucket }()
	for _, p := range w.inForce.Partitions() {
		m := functionstest.Manifest(w.t, w.bucket, p)
		if err := w.Retire(w.t.Context(), w.inForce, &m); err != nil {
			w.t.Fatal(err)
		}
	}
	c := counted.Counts()
	return c.Get + c.Put + c.List
}

// TestRetire: a frontier with many finished URLs is rebuilt. Redis holds few of them, also during the rebuild, and the
// frontier is the same as one that holds all. A sweep moves those that finished later, and reads no book if there
// are few.
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

	// More URLs finish, half of them with an outcome in a book.
	var learnt book.Book
	fronts := make(map[int][]frontier.Known)
	for i := range 4 * most {
		o := functionstest.Outcome(t, version(60), largeURL(urls, 90+i/10*100+i%10), book.Stored)
		if i%2 == 0 {
			learnt.Outcomes = append(learnt.Outcomes, o)
		}
		crawl := crawlOf(t, small, o)
		fronts[crawl] = append(fronts[crawl], frontier.Known{ID: o.Identity(), Place: o.Place, Version: o.Version, State: o.State})
	}
	for crawl, finals := range fronts {
		if err := frontier.New(small.Redis, crawl).WithRuns(small.bucket).Mark(t.Context(), finals); err != nil {
			t.Fatal(err)
		}
	}
	functionstest.Learn(t, small.bucket, 0, learnt)
	before := small.finished(0) + small.finished(1)
	if small.retire() == 0 || small.finished(0)+small.finished(1) >= before {
		t.Errorf("%d finished URLs in Redis, %d before the sweep", small.finished(0)+small.finished(1), before)
	}
	if n := small.retire(); n != 0 {
		t.Errorf("%d requests to the bucket, although nothing finished since the last sweep", n)
	}
}

// TestRetireSpread: few of the URLs in the books have come back to Redis, and they are far from each other. They are
// moved to one run of each crawl partition, and not to many small ones.
func TestRetireSpread(t *testing.T) {
	const urls = 3000
	w := largeWorld(t, urls)
	w.run()
	m, fronts, finals := functionstest.Manifest(t, w.bucket, 0), make(map[int]*frontier.Frontier), make(map[int][]frontier.Known)
	for crawl := range 2 {
		fronts[crawl] = frontier.New(w.Redis, crawl).WithRuns(w.bucket)
	}
	if err := w.Frontiers.retire(t.Context(), w.inForce, &m, fronts, 100); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < urls; i += 100 {
		o := functionstest.Outcome(t, version(60), largeURL(urls, i+1), book.Stored)
		crawl := crawlOf(t, w, o)
		finals[crawl] = append(finals[crawl], frontier.Known{ID: o.Identity(), Place: o.Place, Version: o.Version, State: o.State})
	}
	before := w.finished(0) + w.finished(1)
	for crawl, some := range finals {
		if err := fronts[crawl].Mark(t.Context(), some); err != nil {
			t.Fatal(err)
		}
	}
	counted := countblob.New(w.bucket)
	for crawl := range 2 {
		fronts[crawl].WithRuns(counted)
	}
	if err := w.Frontiers.retire(t.Context(), w.inForce, &m, fronts, 100); err != nil {
		t.Fatal(err)
	}
	if n := counted.Counts().Put; n == 0 || n > 2 {
		t.Errorf("%d runs, want one for each crawl partition", n)
	}
	if n := w.finished(0) + w.finished(1); n != before {
		t.Errorf("%d finished URLs in Redis, want %d", n, before)
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
