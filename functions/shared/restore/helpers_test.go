package restore

import (
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// The seeds, in two partitions of two.
const (
	one = "http://one.example/"
	two = "http://two.example/"
)

// world is frontiers with their surroundings: a bucket that knows the seed one
// and three pages of its site from a book, and one of site two from the spool.
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
	retried := functionstest.Outcome(t, version(2), one+"retried", book.Retry)
	retried.Depth, retried.Attempts = 1, 2
	functionstest.Learn(t, w.bucket, 1, book.Book{
		Outcomes: []book.Outcome{
			functionstest.Outcome(t, version(1), one, book.Skipped), functionstest.Outcome(t, version(1), one+"failed", book.Failed), retried,
		},
		Links: []book.Link{
			functionstest.Link(t, one, one+"failed", 1), functionstest.Link(t, one, one+"retried", 1), functionstest.Link(t, one, one+"new", 1),
			functionstest.Link(t, one, two+"page", 1), functionstest.Link(t, one, "http://elsewhere.example/", 1),
		},
	})
	l := spool.Ledger{Batch: version(3), Ended: functionstest.Start, Outcomes: functionstest.Outcomes(t, version(3), book.Stored, two+"page")}
	functionstest.Put(t, w.bucket, layout.SpoolKey(0, l.Batch), functionstest.Spool(t, l))
	return w
}

// sweep does what the sweep has done.
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

// frontierOf is all that matters of a frontier.
type frontierOf struct {
	Epoch   uint64
	Counts  frontier.Counts
	Pending []string
}

func (w *world) frontier(crawl int) frontierOf {
	w.t.Helper()
	front := frontier.New(w.Redis, crawl)
	f := frontierOf{Counts: functionstest.Counts(w.t, w.Redis, crawl)}
	var err error
	if f.Epoch, err = front.Epoch(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	if err := front.Built(w.t.Context(), w.inForce.Fingerprint()); err != nil {
		w.t.Fatal(err)
	}
	for id, err := range front.Pending(w.t.Context()) {
		if err != nil {
			w.t.Fatal(err)
		}
		f.Pending = append(f.Pending, id.String())
	}
	slices.Sort(f.Pending)
	return f
}

func ids(urls ...string) []string {
	var all []string
	for _, url := range urls {
		all = append(all, layout.IdentityOf(url).String())
	}
	slices.Sort(all)
	return all
}

// lease takes the next lease of a crawl partition.
func (w *world) lease(crawl int) frontier.Lease {
	w.t.Helper()
	leased, ok, err := frontier.New(w.Redis, crawl).Lease(w.t.Context(), frontier.Request{
		Now: w.clock.Now(), Deadline: w.clock.Now().Add(time.Hour), Max: 10, MaxBytes: 1 << 10, Connections: 10,
	})
	if err != nil || !ok {
		w.t.Fatalf("leased %v, %v", ok, err)
	}
	return leased
}
