package sweep

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// The seeds, in two partitions of two.
const (
	one = "http://one.example/"
	two = "http://two.example/"
)

// world is a function with its surroundings: a bucket that knows the seed one
// and three pages of its site from a book, and one of site two from the spool.
type world struct {
	*Function
	t       testing.TB
	bucket  *memblob.Bucket
	clock   *functionstest.Clock
	sender  *functionstest.Sender
	inForce *settings.Settings
}

func version(token uint64) layout.Version { return layout.Version{Epoch: 1, Token: token} }

func newWorld(t testing.TB, rdb redis.UniversalClient) *world {
	t.Helper()
	clock := functionstest.NewClock()
	w := &world{t: t, bucket: memblob.NewAt(clock.Now), clock: clock, sender: new(functionstest.Sender)}
	w.inForce = functionstest.Publish(t, w.bucket, 2, nil, one, two)
	w.Function = &Function{
		Bucket: w.bucket, Redis: rdb, Sender: w.sender, Now: w.clock.Now,
		Worker: "w", Limits: DefaultLimits(), Log: functionstest.Log(),
	}
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
	w.spool(3, two+"page", book.Stored)
	if err := rdb.Set(t.Context(), "frontier:token", 1000, 0).Err(); err != nil { // those of the tests were given
		t.Log(err)
	}
	return w
}

// spool puts the spool object of a batch of one URL of site two.
func (w *world) spool(token uint64, url string, state book.State) (key string) {
	w.t.Helper()
	l := spool.Ledger{Batch: version(token), Ended: functionstest.Start, Outcomes: functionstest.Outcomes(w.t, version(token), state, url)}
	key = layout.SpoolKey(0, l.Batch)
	functionstest.Put(w.t, w.bucket, key, functionstest.Spool(w.t, l))
	return key
}

// run sweeps and returns what was sent, as queue and body or key of an event.
func (w *world) run() []string {
	w.t.Helper()
	if err := w.Run(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	var sent []string
	for _, m := range w.sender.Take() {
		if keys, err := message.S3Keys(m.Body); err == nil {
			m.Body = strings.Join(keys, " ")
		}
		sent = append(sent, m.Queue+" "+m.Body)
	}
	return sent
}

// frontierOf is all that matters of a frontier.
type frontierOf struct {
	Epoch   uint64
	Pending []string
}

func (w *world) frontier(crawl int) frontierOf {
	w.t.Helper()
	front := frontier.New(w.Redis, crawl)
	var f frontierOf
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

func (w *world) manifest(p layout.Partition) manifest.Manifest {
	w.t.Helper()
	m, err := manifest.Read(w.t.Context(), w.bucket, p)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}
