package restore

import (
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// The seeds of the collection. The first is in crawl partition 1, the second in crawl partition 0.
const (
	one = "http://one.example/"
	two = "http://two.example/"
)

// world holds frontiers (queues of URLs in Redis) and their bucket. At first a book in the bucket
// has the outcome of the first seed, and links to three pages of its site. The spool has a page of
// the second seed's site. Their batches are of epoch 1, so that the first rebuild begins epoch 2.
type world struct {
	*Frontiers
	t       testing.TB
	bucket  *memblob.Bucket
	clock   *functionstest.Clock
	inForce *settings.Settings
}

func version(token uint64) layout.Version { return layout.Version{Epoch: 1, Token: token} }

func newWorld(t testing.TB, rdb redis.UniversalClient) *world {
	t.Helper()
	w := &world{t: t, bucket: memblob.New(), clock: functionstest.NewClock()}
	w.inForce = functionstest.Publish(t, w.bucket, 2, nil, one, two)
	w.Frontiers = &Frontiers{Bucket: w.bucket, Redis: rdb, Now: w.clock.Now, Worker: "w", Log: functionstest.Log()}
	functionstest.LearnSite(t, w.bucket, 1, one, two+"page", "http://elsewhere.example/")
	l := spool.Ledger{Batch: version(3), Ended: functionstest.Start, Outcomes: functionstest.Outcomes(t, version(3), book.Stored, two+"page")}
	functionstest.Put(t, w.bucket, layout.SpoolKey(0, l.Batch), functionstest.Spool(t, l))
	return w
}

// sweep does what the function sweep does with frontiers: it calls Refresh once, and then Renew for
// each storage partition.
func (w *world) sweep() error {
	w.t.Helper()
	s, err := settings.Read(w.t.Context(), w.Bucket, functionstest.Start)
	if err == nil {
		err = w.Refresh(w.t.Context(), s)
	}
	for _, p := range w.inForce.Partitions() {
		m := functionstest.Manifest(w.t, w.bucket, p)
		if err == nil {
			err = w.Renew(w.t.Context(), s, &m)
		}
	}
	return err
}

func (w *world) run() {
	w.t.Helper()
	if err := w.sweep(); err != nil {
		w.t.Fatal(err)
	}
}

// frontierOf is the state of a frontier that tests compare.
type frontierOf struct {
	functionstest.Frontier
	Counts frontier.Counts
}

func (w *world) frontier(crawl int) frontierOf {
	w.t.Helper()
	return frontierOf{functionstest.ReadFrontier(w.t, w.Redis, w.inForce, crawl), functionstest.Counts(w.t, w.Redis, crawl)}
}

func ids(urls ...string) []string {
	var all []string
	for _, url := range urls {
		all = append(all, layout.IdentityOf(url).String())
	}
	slices.Sort(all)
	return all
}

// lease leases the next batch of URLs of a crawl partition.
func (w *world) lease(crawl int) frontier.Lease {
	w.t.Helper()
	return functionstest.Lease(w.t, w.Redis, crawl, w.clock.Now())
}
