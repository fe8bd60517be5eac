package rangecache

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// gated is a store whose Gets wait at a gate.
type gated struct {
	blob.Bucket
	asked chan blob.Range // told of every Get
	open  chan struct{}   // closed to let them through
	ended chan error      // told how each went
}

func gate(inner blob.Bucket) *gated {
	return &gated{inner, make(chan blob.Range, 1_000), make(chan struct{}), make(chan error, 1_000)}
}

func (g *gated) Get(ctx context.Context, key string, r blob.Range) (content []byte, err error) {
	defer func() { g.ended <- err }()
	g.asked <- r
	select {
	case <-g.open:
		return g.Bucket.Get(ctx, key, r)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reading is a Read that goes on.
type reading struct {
	cancel context.CancelFunc
	meter  *meter.Meter
	err    chan error
}

// begin begins a Read and returns when c has taken note of it.
func begin(t *testing.T, c *Cache, ranges []blob.Range) *reading {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &reading{cancel, new(meter.Meter), make(chan error, 1)}
	noted := waiters(c)
	go func() {
		_, err := c.Read(meter.With(ctx, r.meter), "a", ranges)
		r.err <- err
	}()
	for waiters(c) < noted+len(ranges) {
		runtime.Gosched()
	}
	return r
}

func waiters(c *Cache) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.flights {
		n += f.waiters
	}
	return n
}

// Many who ask for the same at once make one request, which goes on when some
// of them, the first too, hang up.
func TestSharedRequest(t *testing.T) {
	store := gate(store(t, 1<<20))
	c := open(t, meter.Bucket(store), Options{Memory: 1 << 20})
	first := begin(t, c, blocks(1_000, 1, 2))
	<-store.asked
	second, third := begin(t, c, blocks(1_000, 2)), begin(t, c, blocks(1_000, 1))
	for _, r := range []*reading{first, third} {
		r.cancel()
		if err := <-r.err; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the context's error", err)
		}
	}
	close(store.open)
	if err := <-second.err; err != nil {
		t.Error(err)
	}
	if err := <-store.ended; err != nil || len(store.asked) != 0 {
		t.Errorf("the request ended with %v, %d others were made", err, len(store.asked))
	}
	wantRead(t, c, store.Bucket, "a", blocks(1_000, 1, 2)...)
	want := meter.Cost{DependentSteps: 1, CacheHits: 1}
	if diff := cmp.Diff(want, second.meter.Cost(meter.Prices{}, 0)); diff != "" {
		t.Errorf("cost of the one that joined (-want +got):\n%s", diff)
	}
	want = meter.Cost{Requests: 1, Bytes: 2_000, DependentSteps: 1}
	if diff := cmp.Diff(want, first.meter.Cost(meter.Prices{}, 0)); diff != "" {
		t.Errorf("cost of the one that asked (-want +got):\n%s", diff)
	}
}

// When all have hung up, so does the request; the next call makes another.
func TestAbandonedRequest(t *testing.T) {
	store := gate(store(t, 1<<20))
	c := open(t, store, Options{Memory: 1 << 20})
	first, second := begin(t, c, blocks(1_000, 1)), begin(t, c, blocks(1_000, 1))
	<-store.asked
	first.cancel()
	<-first.err
	second.cancel()
	<-second.err
	third := begin(t, c, blocks(1_000, 1)) // before or after the store has noticed
	if err := <-store.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the request ended with %v, want it cancelled", err)
	}
	close(store.open)
	if err := <-third.err; err != nil {
		t.Error(err)
	}
}

// A request that waits for others to end can be abandoned, too.
func TestFewRequestsAtOnce(t *testing.T) {
	store := gate(store(t, 1<<20))
	c := open(t, store, Options{Memory: 1 << 20})
	var readings []*reading
	for i := range int64(mostRequests + 5) {
		readings = append(readings, begin(t, c, blocks(1_000, i)))
	}
	for range mostRequests {
		<-store.asked
	}
	if len(c.slots) != mostRequests || len(store.asked) != 0 {
		t.Errorf("%d requests are under way, and %d more", len(c.slots), len(store.asked))
	}
	for _, r := range readings {
		r.cancel()
		<-r.err
	}
	c.work.Wait()
	if len(c.slots) != 0 || len(c.flights) != 0 {
		t.Errorf("%d requests, %d flights are left", len(c.slots), len(c.flights))
	}
}

// A call whose context has ended asks for nothing.
func TestCancelled(t *testing.T) {
	bucket := store(t, 10)
	c := open(t, bucket, Options{Memory: 1 << 20})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Read(ctx, "a", []blob.Range{{}}); !errors.Is(err, context.Canceled) || bucket.Counts().Requests() != 0 {
		t.Errorf("got %v after %d requests", err, bucket.Counts().Requests())
	}
}

// Whichever request fails, a call fails as it does or has all that it asked
// for, and the next call has it.
func TestFaults(t *testing.T) {
	ranges := append(blocks(1_000, 0, 1, 500, 900), blob.Range{Offset: -10})
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		bucket := memblob.New()
		if err := bucket.Create(t.Context(), "a", make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		c := open(t, faultblob.New(bucket, decide), onDir(t.TempDir()))
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				if _, err := c.Read(t.Context(), "a", ranges); err != nil && !errors.Is(err, blob.ErrRetryable) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		c.work.Wait()
		_, _ = c.Read(t.Context(), "a", ranges) // the fault may be here
		wantRead(t, c, bucket, "a", ranges...)
		if s := c.Stats(); s.Unwritten != 0 || len(c.flights) != 0 {
			t.Errorf("%+v, %d flights", s, len(c.flights))
		}
	})
}
