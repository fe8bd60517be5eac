package rangecache

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// gated is a store whose Gets wait until the channel open is closed.
type gated struct {
	blob.Bucket
	asked chan blob.Range // receives the range of every Get
	open  chan struct{}   // closed to let the Gets go on
	ended chan error      // receives the error of every Get
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

// reading is a call of Read that runs in a goroutine.
type reading struct {
	cancel context.CancelFunc
	meter  *meter.Meter
	err    chan error
}

// begin calls Read in a goroutine, and does not wait for its end. It returns as soon as this call
// of Read has registered as waiting for all its ranges.
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
	for _, f := range c.loads {
		n += f.waiters
	}
	return n
}

// Several calls read the same ranges at once, and so share one request. The contexts of some of
// these calls end, also that of the first, which has made the request. The request must go on
// for the remaining call.
func TestSharedRequest(t *testing.T) {
	behind := gate(store(t, 1<<20))
	c := open(t, meter.Bucket(behind), Options{Memory: 1 << 20})
	first := begin(t, c, blocks(1_000, 1, 2))
	<-behind.asked
	second, third := begin(t, c, blocks(1_000, 2)), begin(t, c, blocks(1_000, 1))
	for _, r := range []*reading{first, third} {
		r.cancel()
		if err := <-r.err; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the context's error", err)
		}
	}
	close(behind.open)
	if err := <-second.err; err != nil {
		t.Error(err)
	}
	if err := <-behind.ended; err != nil || len(behind.asked) != 0 {
		t.Errorf("the request ended with %v, %d others were made", err, len(behind.asked))
	}
	wantRead(t, c, behind.Bucket, "a", blocks(1_000, 1, 2)...)
	want := meter.Cost{DependentSteps: 1, CacheHits: 1}
	if diff := cmp.Diff(want, second.meter.Cost(meter.Prices{}, 0)); diff != "" {
		t.Errorf("cost of the one that joined (-want +got):\n%s", diff)
	}
	want = meter.Cost{Requests: 1, Bytes: 2_000, DependentSteps: 1}
	if diff := cmp.Diff(want, first.meter.Cost(meter.Prices{}, 0)); diff != "" {
		t.Errorf("cost of the one that asked (-want +got):\n%s", diff)
	}
}

// A request is cancelled when the contexts of all calls that wait for it have ended.
// The next call makes a new request.
func TestAbandonedRequest(t *testing.T) {
	behind := gate(store(t, 1<<20))
	c := open(t, behind, Options{Memory: 1 << 20})
	first, second := begin(t, c, blocks(1_000, 1)), begin(t, c, blocks(1_000, 1))
	<-behind.asked
	first.cancel()
	<-first.err
	second.cancel()
	<-second.err
	third := begin(t, c, blocks(1_000, 1)) // before or after the store has noticed the cancellation
	if err := <-behind.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the request ended with %v, want it cancelled", err)
	}
	close(behind.open)
	if err := <-third.err; err != nil {
		t.Error(err)
	}
}

// More calls of Read run at the same time than requests are allowed (see mostRequests), so that
// some requests wait for their turn. Then all calls are cancelled. No request may be left, neither
// one under way nor one that waits.
func TestFewRequestsAtOnce(t *testing.T) {
	behind := gate(store(t, 1<<20))
	c := open(t, behind, Options{Memory: 1 << 20})
	var readings []*reading
	for i := range int64(mostRequests + 5) {
		readings = append(readings, begin(t, c, blocks(1_000, i)))
	}
	for range mostRequests {
		<-behind.asked
	}
	if len(c.slots) != mostRequests || len(behind.asked) != 0 {
		t.Errorf("%d requests are under way, and %d more", len(c.slots), len(behind.asked))
	}
	for _, r := range readings {
		r.cancel()
		<-r.err
	}
	c.work.Wait()
	if len(c.slots) != 0 || len(c.loads) != 0 {
		t.Errorf("%d requests, %d loads are left", len(c.slots), len(c.loads))
	}
}

// A call whose context has ended makes no request.
func TestCancelled(t *testing.T) {
	bucket := store(t, 10)
	c := open(t, bucket, Options{Memory: 1 << 20})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Read(ctx, "a", []blob.Range{{}}); !errors.Is(err, context.Canceled) || bucket.Counts().Requests() != 0 {
		t.Errorf("got %v after %d requests", err, bucket.Counts().Requests())
	}
}

// The test runs several times. In the first run the first request to the bucket fails, in the second
// run the second, and so on. Three calls of Read run at the same time: each must return the right
// contents or the error of the request. Later, when no request fails any more, Read must succeed.
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
		_, _ = c.Read(t.Context(), "a", ranges) // this read may fail
		wantRead(t, c, bucket, "a", ranges...)
		if s := c.Stats(); s.Unwritten != 0 || len(c.loads) != 0 {
			t.Errorf("%+v, %d loads", s, len(c.loads))
		}
	})
}

const kib, mib = 1 << 10, 1 << 20

func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name   string
		ranges []blob.Range
		want   []blob.Range
	}{
		{"nothing", nil, nil},
		{"one", []blob.Range{{Offset: 7, Length: 9}}, []blob.Range{{Offset: 7, Length: 9}}},
		{"neighbours, in any order", []blob.Range{{Offset: 20, Length: 10}, {Offset: 10, Length: 10}}, []blob.Range{{Offset: 10, Length: 20}}},
		{"overlap", []blob.Range{{Offset: 10, Length: 50}, {Offset: 20, Length: 10}, {Offset: 30, Length: 31}}, []blob.Range{{Offset: 10, Length: 51}}},
		{"the widest gap", []blob.Range{{Length: 10}, {Offset: 10 + mostGaps, Length: 10}}, []blob.Range{{Length: 20 + mostGaps}}},
		{"a wider gap", []blob.Range{{Length: 10}, {Offset: 11 + mostGaps, Length: 10}}, []blob.Range{{Length: 10}, {Offset: 11 + mostGaps, Length: 10}}},
		{
			"the narrowest gaps first",
			[]blob.Range{{Length: 1}, {Offset: 1_500 * kib, Length: 1}, {Offset: 3_000 * kib, Length: 1}, {Offset: 3_400 * kib, Length: 1}, {Offset: 4_000 * kib, Length: 1}},
			[]blob.Range{{Length: 1}, {Offset: 1_500 * kib, Length: 1}, {Offset: 3_000 * kib, Length: 1_000*kib + 1}},
		},
		{
			"not more gaps than the bound in a request",
			blocks(500*kib, 0, 2, 4, 6, 8, 10),
			[]blob.Range{{Length: 4_500 * kib}, {Offset: 5_000 * kib, Length: 500 * kib}},
		},
		{
			"not more small gaps than the bound in all",
			apart(500*kib, 23),
			[]blob.Range{
				{Length: 2_000*kib + 1},
				{Offset: 2_500 * kib, Length: 2_000*kib + 1}, {Offset: 5_000 * kib, Length: 2_000*kib + 1}, {Offset: 7_500 * kib, Length: 2_000*kib + 1},
				{Offset: 10_000 * kib, Length: 1}, {Offset: 10_500 * kib, Length: 1}, {Offset: 11_000 * kib, Length: 1},
			},
		},
		{
			"gaps that are not small",
			apart(600*kib, 5),
			[]blob.Range{{Length: 1_800*kib + 1}, {Offset: 2_400 * kib, Length: 1}},
		},
		{"never more than the most", []blob.Range{{Length: 5 * mib}, {Offset: 5 * mib, Length: 5 * mib}}, []blob.Range{{Length: 5 * mib}, {Offset: 5 * mib, Length: 5 * mib}}},
		{
			"what depends on the size is apart",
			[]blob.Range{{Offset: -5}, {}, {Offset: 5}, {Offset: 5, Length: math.MaxInt64}, {Length: 5}},
			[]blob.Range{{Length: 5}, {Offset: -5}, {}, {Offset: 5}, {Offset: 5, Length: math.MaxInt64}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []blob.Range
			for _, s := range join(c.ranges) {
				got = append(got, s.Range)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// apart returns n ranges of one byte, which begin every so many bytes.
func apart(bytes int64, n int) (ranges []blob.Range) {
	for i := range int64(n) {
		ranges = append(ranges, blob.Range{Offset: i * bytes, Length: 1})
	}
	return ranges
}

// The function join must put each range into exactly one request, which contains it. No request
// may be larger than mostJoined, nor read more than mostGaps bytes in gaps; all together may not read more than
// mostOfCall.
func TestJoinProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2_000 {
		ranges := scattered(random, random.IntN(40), 1<<(14+random.IntN(14)))
		seen, read, wanted := make([]bool, len(ranges)), int64(0), int64(0)
		spans := join(ranges)
		for _, s := range spans {
			read += s.Length
			gaps := s.Length
			for _, i := range s.members {
				r := ranges[i]
				if seen[i] || r.Offset < s.Offset || r.Offset+r.Length > s.end() {
					t.Fatalf("range %d %+v is not in the one request %+v", i, r, s)
				}
				seen[i] = true
				wanted += r.Length
				gaps -= r.Length
			}
			if gaps > mostGaps {
				t.Fatalf("a request with %d bytes in gaps", gaps)
			}
			if s.Length > mostJoined {
				t.Fatalf("a request for %d bytes", s.Length)
			}
		}
		for i := range seen {
			if !seen[i] {
				t.Fatalf("range %d is not asked for", i)
			}
		}
		if read > wanted+mostOfCall {
			t.Fatalf("%d bytes are read for %d", read, wanted)
		}
	}
}

// scattered returns n short ranges that begin at random offsets below size.
func scattered(random *rand.Rand, n, size int) []blob.Range {
	ranges := make([]blob.Range, n)
	for i := range ranges {
		ranges[i] = blob.Range{Offset: int64(random.IntN(size)), Length: 1 + int64(random.IntN(16*kib))}
	}
	return ranges
}
