// Package meter measures the cost of one operation: its requests, their bytes, and the
// number of times that it waited for the store.
//
//	m := new(meter.Meter)
//	ctx = meter.With(ctx, m)
//	… // the operation, over a bucket that meter.Bucket wraps
//	cost := m.Cost(meter.USEast1(), gbSeconds)
//
// Without a meter in the context nothing is counted, and nothing is allocated.
package meter

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

// Meter counts the requests of one operation, such as a query. The zero Meter is ready
// for use. It is safe for concurrent use.
type Meter struct {
	requests countblob.Counter
	hits     atomic.Int64
	calls    atomic.Int64 // number of Spent that Add has added
	billed   atomic.Int64 // sum of their GBSeconds, in 10⁻⁹ GB-seconds
	root     thread       // counter of the operation's dependent steps; Cost.DependentSteps is read from it
}

// Requests returns the numbers of requests and bytes so far.
func (m *Meter) Requests() countblob.Counts { return m.requests.Counts() }

// Cost returns the cost of the requests so far, and of one invocation of a function.
// The parameter gbSeconds is the time of the invocation in seconds multiplied by the
// function's memory in GB; 0 if it is not billed.
func (m *Meter) Cost(prices Prices, gbSeconds float64) Cost {
	requests := m.Requests()
	return Cost{
		Requests:       requests.Requests(),
		Bytes:          requests.Read + requests.Written,
		DependentSteps: m.root.now(),
		CacheHits:      m.hits.Load(),
		USD:            prices.Of(requests, 1+m.calls.Load(), gbSeconds+float64(m.billed.Load())/1e9),
	}
}

// Spent is what another process has spent on a part of an operation, which it has measured by a Meter of its own.
type Spent struct {
	Requests  countblob.Counts
	Steps     int64   // as Cost.DependentSteps
	Hits      int64   // as Cost.CacheHits
	GBSeconds float64 // billed time of the function that ran there
}

// Spent returns what was counted so far, for a process that adds it by Add. The parameter is that of Cost.
func (m *Meter) Spent(gbSeconds float64) Spent {
	return Spent{m.Requests(), m.root.now(), m.hits.Load(), gbSeconds}
}

// Add adds what another process has spent, in one invocation of a function, to the meter of ctx.
func Add(ctx context.Context, s Spent) {
	t := of(ctx)
	if t == nil {
		return
	}
	t.meter.requests.Add(s.Requests)
	t.meter.hits.Add(s.Hits)
	t.meter.calls.Add(1)
	t.meter.billed.Add(int64(s.GBSeconds * 1e9))
	t.reach(t.now() + s.Steps)
}

// Cost is the use of the object store by one operation, with the price of its requests and of the
// function that ran it.
type Cost struct {
	Requests int64 `json:"requests"` // number of requests of all kinds; every attempt counts
	Bytes    int64 `json:"bytes"`    // number of bytes of content that were read and written
	// DependentSteps is the number of requests in the longest chain in which each waited
	// for the one before (see Fork).
	DependentSteps int64   `json:"dependent_steps"`
	CacheHits      int64   `json:"cache_hits"` // number of ranges from a cache, or from a request of another operation
	USD            float64 `json:"usd"`
}

// contextKey is the key under which a context holds its *thread, the counter of dependent steps.
type contextKey struct{}

// With returns a context for an operation: requests with this context are counted in m, and in no
// other meter.
func With(ctx context.Context, m *Meter) context.Context {
	main := &thread{meter: m, parent: &m.root}
	main.level.Store(m.root.now())
	return context.WithValue(ctx, contextKey{}, main)
}

// of returns the thread (the counter of dependent steps) that With has stored in a context; nil if
// the context has no meter.
func of(ctx context.Context) *thread {
	t, _ := ctx.Value(contextKey{}).(*thread)
	return t
}

// Hit counts n ranges that were found in a cache: it adds n to the CacheHits of ctx's meter.
func Hit(ctx context.Context, n int) {
	if t := of(ctx); t != nil && n > 0 {
		t.meter.hits.Add(int64(n))
	}
}

// Prices are in USD. Bytes to and from the store cost nothing within a region.
type Prices struct {
	PutPerMillion    float64 `json:"put_per_million"`
	GetPerMillion    float64 `json:"get_per_million"`
	ListPerMillion   float64 `json:"list_per_million"`
	HeadPerMillion   float64 `json:"head_per_million"`
	DeletePerMillion float64 `json:"delete_per_million"`
	LambdaPerMillion float64 `json:"lambda_per_million"` // price of 1,000,000 invocations of functions
	LambdaGBSecond   float64 `json:"lambda_gb_second"`
}

// USEast1 returns the prices of AWS's region us-east-1, with Lambda on arm64.
func USEast1() Prices {
	return Prices{
		PutPerMillion: 5, GetPerMillion: 0.4, ListPerMillion: 5, HeadPerMillion: 0.4,
		LambdaPerMillion: 0.2, LambdaGBSecond: 13.33e-6,
	}
}

// Of returns the price, in USD, of requests and of Lambda invocations. The parameter gbSeconds
// is the time of all these invocations in seconds, multiplied by their memory in GB.
func (p Prices) Of(requests countblob.Counts, invocations int64, gbSeconds float64) float64 {
	millions := float64(requests.Put)*p.PutPerMillion +
		float64(requests.Get)*p.GetPerMillion +
		float64(requests.List)*p.ListPerMillion +
		float64(requests.Head)*p.HeadPerMillion +
		float64(requests.Delete)*p.DeletePerMillion +
		float64(invocations)*p.LambdaPerMillion
	return millions/1e6 + gbSeconds*p.LambdaGBSecond
}

// Bucket returns a bucket that passes every call to inner, and counts the requests in
// the meter of the call's context. inner must be the store itself, and not a blob.Retry
// around it, so that every attempt is counted.
func Bucket(inner blob.Bucket) blob.Bucket { return bucket{inner} }

type bucket struct{ inner blob.Bucket }

// begin prepares the counting of one request. The request must be sent to the bucket
// that begin returns: then the meter of ctx counts it. When the answer has come, the
// returned function must be called. If ctx has no meter, nothing is counted.
func (b bucket) begin(ctx context.Context) (counted blob.Bucket, end func()) {
	t := of(ctx)
	if t == nil {
		return b.inner, func() {}
	}
	step := t.now() + 1
	return countblob.Into(&t.meter.requests, b.inner), func() { t.reach(step) }
}

func (b bucket) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	counted, end := b.begin(ctx)
	defer end()
	return counted.Get(ctx, key, r)
}

func (b bucket) Head(ctx context.Context, key string) (int64, error) {
	counted, end := b.begin(ctx)
	defer end()
	return counted.Head(ctx, key)
}

// List sends one request for every 1,000 objects. It counts one dependent step for each of these
// requests, because each waits for the answer to the one before.
func (b bucket) List(ctx context.Context, prefix, startAfter string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		counted, end := b.begin(ctx)
		defer func() { end() }()
		seen := 0
		for object, err := range counted.List(ctx, prefix, startAfter) {
			if seen%countblob.Listed == 0 {
				if seen > 0 {
					_, end = b.begin(ctx)
				}
				end()
			}
			seen++
			if !yield(object, err) {
				return
			}
		}
	}
}

func (b bucket) Create(ctx context.Context, key string, content []byte) error {
	counted, end := b.begin(ctx)
	defer end()
	return counted.Create(ctx, key, content)
}

func (b bucket) Replace(ctx context.Context, key string, content []byte) error {
	counted, end := b.begin(ctx)
	defer end()
	return counted.Replace(ctx, key, content)
}

func (b bucket) Delete(ctx context.Context, key string) error {
	counted, end := b.begin(ctx)
	defer end()
	return counted.Delete(ctx, key)
}
