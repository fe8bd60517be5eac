package pack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

const (
	host = "a.example"
	site = "http://" + host + "/"
)

// world is a pack function for tests, with a bucket, settings and Redis. Its frontier is built, and
// one URL waits on another host, so that the crawl has not ended. Redis says that the partition has a
// thousand pages, so that a few spool objects are not packed at once; the first commit corrects this.
type world struct {
	*Function
	t       *testing.T
	store   *memblob.Bucket
	clock   *functionstest.Clock
	sender  *functionstest.Sender
	inForce *settings.Settings

	// tells which storage calls of the function fail; nil: none
	decide func(faultblob.Call) faultblob.Fault
}

func newWorld(t *testing.T, rdb redis.UniversalClient, edit func(*collection.Collection)) *world {
	t.Helper()
	store, clock, sender := memblob.New(), functionstest.NewClock(), new(functionstest.Sender)
	w := &world{t: t, store: store, clock: clock, sender: sender}
	w.inForce = functionstest.Publish(t, store, 1, edit, site)
	functionstest.Begin(t, store, 0)
	bucket := faultblob.New(store, func(c faultblob.Call) faultblob.Fault {
		if w.decide == nil {
			return faultblob.None
		}
		return w.decide(c)
	})
	w.Function = &Function{
		Bucket: bucket, Settings: &settings.Cache{Bucket: bucket, Now: clock.Now, Age: time.Hour},
		Redis: rdb, Sender: sender, Now: clock.Now, Limits: DefaultLimits(),
		Worker: "w", Agent: "testbot/1.0", Log: functionstest.Log(),
	}
	functionstest.Open(t, rdb, w.inForce, 1)
	functionstest.Admit(t, rdb, w.inForce, "http://other."+host+"/")
	w.packed(1000)
	return w
}

// packed enters in Redis how many pages the packages of the partition have.
func (w *world) packed(pages int) {
	w.t.Helper()
	if err := frontier.NewInbox(w.Redis, 0).SetPacked(w.t.Context(), pages); err != nil {
		w.t.Fatal(err)
	}
}

// embedded returns a world on the embedded Redis, with the usual settings.
func embedded(t *testing.T) *world {
	t.Helper()
	return newWorld(t, redistest.Server(t), nil)
}

func version(token uint64) layout.Version { return layout.Version{Epoch: 1, Token: token} }

func spoolKey(token uint64) string { return layout.SpoolKey(0, version(token)) }

// stored returns the ledger (the results) of a batch with one stored page, whose name is the
// batch's token.
func (w *world) stored(token uint64) spool.Ledger {
	w.t.Helper()
	return w.ledger(token, functionstest.Outcome(w.t, version(token), fmt.Sprint(site, token), book.Stored))
}

func (w *world) ledger(token uint64, outcomes ...book.Outcome) spool.Ledger {
	return spool.Ledger{Batch: version(token), Host: host, Ended: w.clock.Now(), Outcomes: outcomes}
}

// spool puts a spool object with the given ledger into the bucket. The ledger has the results of a
// batch.
func (w *world) spool(l spool.Ledger) {
	w.t.Helper()
	functionstest.Put(w.t, w.store, layout.SpoolKey(0, l.Batch), functionstest.Spool(w.t, l))
}

// settle calls Settle for the spool objects of the batches with the tokens, and fails the test if
// that fails.
func (w *world) settle(tokens ...uint64) {
	w.t.Helper()
	for _, token := range tokens {
		if err := w.Settle(w.t.Context(), spoolKey(token)); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) gather(flush bool) {
	w.t.Helper()
	if err := w.Gather(w.t.Context(), task.Gather{Flush: flush}); err != nil {
		w.t.Fatal(err)
	}
}

// lease leases the next batch of the frontier. It returns false if none can be leased now.
func (w *world) lease() (frontier.Lease, bool) {
	w.t.Helper()
	lease, leased, err := frontier.New(w.Redis, 0).Lease(w.t.Context(), frontier.Request{
		Now: w.clock.Now(), Horizon: 0, Deadline: w.clock.Now().Add(time.Minute), Max: 100, MaxBytes: 1 << 20, Connections: 1,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return lease, leased
}

func (w *world) manifest() manifest.Manifest {
	w.t.Helper()
	m, err := manifest.Read(w.t.Context(), w.store, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// book returns the book that was committed last.
func (w *world) book() book.Book {
	w.t.Helper()
	books := w.manifest().Books
	content, err := w.store.Get(w.t.Context(), books[len(books)-1].Key, blob.Range{})
	if err != nil {
		w.t.Fatal(err)
	}
	b, err := book.Decode(content)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// damage flips a bit in one byte of a batch's spool object. The parameter at is the index of the
// byte; a negative index counts from the end.
func (w *world) damage(token uint64, at int) {
	w.t.Helper()
	content, err := w.store.Get(w.t.Context(), spoolKey(token), blob.Range{})
	if err != nil {
		w.t.Fatal(err)
	}
	if at < 0 {
		at += len(content)
	}
	content[at] ^= 1
	if err := w.store.Replace(w.t.Context(), spoolKey(token), content); err != nil {
		w.t.Fatal(err)
	}
}

// beforeCommit arranges that the given callback is called once, just before pack commits.
func (w *world) beforeCommit(do func()) {
	w.decide = func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Manifests) {
			w.decide = nil
			do()
		}
		return faultblob.None
	}
}
