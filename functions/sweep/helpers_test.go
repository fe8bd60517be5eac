package sweep

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// The seeds of the collection: two sites, in two crawl partitions.
const (
	one = "http://one.example/"
	two = "http://two.example/"
)

// world is a sweep function for tests, with a bucket and Redis. Its collection has two sites, each
// with its own crawl partition. At first the bucket has a book about the first site (see
// functionstest.LearnSite), and a spool object with a page of the second site.
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
	functionstest.LearnSite(t, w.bucket, 1, one, two+"page", "http://elsewhere.example/")
	w.spool(3, two+"page", book.Stored)
	// the tests use the tokens up to 1000
	if err := rdb.Set(t.Context(), "frontier:token", 1000, 0).Err(); err != nil {
		t.Log(err)
	}
	return w
}

// spool puts the spool object of a batch, as fetch does. Its only outcome is that of a URL of the
// second test site (the constant two).
func (w *world) spool(token uint64, url string, state book.State) (key string) {
	w.t.Helper()
	l := spool.Ledger{Batch: version(token), Ended: functionstest.Start, Outcomes: functionstest.Outcomes(w.t, version(token), state, url)}
	key = layout.SpoolKey(0, l.Batch)
	functionstest.Put(w.t, w.bucket, key, functionstest.Spool(w.t, l))
	return key
}

// sweepAll sweeps everything: it lets a sweep function handle the message {}, and then the messages that the
// function has sent to itself.
func sweepAll(ctx context.Context, f *Function) error {
	errs := []error{f.Run(ctx, task.Clean{})}
	sender := f.Sender.(*functionstest.Sender)
	for _, m := range sender.Take() {
		if t, isTask := message.Task[task.Clean](m.Body); m.Queue == task.Sweep && isTask {
			errs = append(errs, f.Run(ctx, t))
		} else {
			errs = append(errs, sender.Send(ctx, m.Queue, []byte(m.Body), m.Delay))
		}
	}
	return errors.Join(errs...)
}

func (w *world) sweepAll() error { return sweepAll(w.t.Context(), w.Function) }

// goneIn returns the message by which the sweep only masks gone pages of a partition.
func goneIn(p layout.Partition) task.Clean { return task.Clean{Gone: &p} }

// run runs the sweep, and returns the messages that it sent, each as a string: the name of the
// queue, a space, and the body of the message. An event has the key of its object in place of the
// body.
func (w *world) run() []string {
	w.t.Helper()
	if err := w.sweepAll(); err != nil {
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

func (w *world) frontier(crawl int) functionstest.Frontier {
	w.t.Helper()
	return functionstest.ReadFrontier(w.t, w.Redis, w.inForce, crawl)
}

// lease leases the next batch of URLs of a crawl partition.
func (w *world) lease(crawl int) frontier.Lease {
	w.t.Helper()
	return functionstest.Lease(w.t, w.Redis, crawl, w.clock.Now())
}

func (w *world) manifest(p layout.Partition) manifest.Manifest {
	w.t.Helper()
	return functionstest.Manifest(w.t, w.bucket, p)
}

// killed returns a bucket for a process that is killed at a call for which decide returns a fault:
// this call and all later ones fail.
func killed(bucket blob.Bucket, decide func(faultblob.Call) faultblob.Fault) blob.Bucket {
	var mu sync.Mutex // protects dead
	dead := false
	return faultblob.New(bucket, func(c faultblob.Call) faultblob.Fault {
		mu.Lock()
		defer mu.Unlock()
		if dead {
			return faultblob.Before
		}
		fault := decide(c)
		dead = fault != faultblob.None
		return fault
	})
}
