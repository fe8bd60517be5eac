package meter

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/blobtest"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

func TestConformance(t *testing.T) {
	blobtest.Run(t, func(*testing.T) blob.Bucket { return Bucket(memblob.New()) })
}

// use makes one request of each kind.
func use(ctx context.Context, b blob.Bucket) {
	_ = b.Create(ctx, "a", []byte("12345"))
	_ = b.Replace(ctx, "a", []byte("1234567890"))
	_, _ = b.Get(ctx, "a", blob.Range{Offset: 2, Length: 4})
	_, _ = b.Head(ctx, "absent")
	for range b.List(ctx, "", "") {
	}
	_ = b.Delete(ctx, "a")
}

func TestCost(t *testing.T) {
	m, b := new(Meter), Bucket(memblob.New())
	ctx := With(t.Context(), m)
	use(ctx, b)
	use(t.Context(), b) // requests of another operation, without a meter
	Hit(ctx, 3)
	Hit(t.Context(), 9)
	want := countblob.Counts{Put: 2, Get: 1, Head: 1, List: 1, Delete: 1, Read: 4, Written: 15}
	if diff := cmp.Diff(want, m.Requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	cost := m.Cost(USEast1(), 0.5)
	usd := 2*5e-6 + .4e-6 + .4e-6 + 5e-6 + .2e-6 + .5*13.33e-6
	if math.Abs(cost.USD-usd) > 1e-12 {
		t.Errorf("%g USD, want %g", cost.USD, usd)
	}
	cost.USD = 0.5
	got, err := json.Marshal(cost)
	if want := `{"requests":6,"bytes":19,"dependent_steps":6,"cache_hits":3,"usd":0.5}`; string(got) != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestPrices(t *testing.T) {
	requests := countblob.Counts{Put: 1e6, Get: 2e6, List: 3e6, Head: 4e6, Delete: 5e6, Read: 1e9, Written: 1e9}
	p := Prices{
		PutPerMillion: 1, GetPerMillion: 10, ListPerMillion: 100, HeadPerMillion: 1e3, DeletePerMillion: 1e4,
		LambdaPerMillion: 1e5, LambdaGBSecond: 1e6,
	}
	if got, want := p.Of(requests, 6e6, 7), 7_654_321.0; math.Abs(got-want) > 1e-6 {
		t.Errorf("got %f, want %f", got, want)
	}
}

// A request fails twice and succeeds at the third attempt. The meter must count three requests and
// three dependent steps, because each attempt waits for the end of the one before.
func TestAttempts(t *testing.T) {
	inner := faultblob.New(memblob.New(), func(c faultblob.Call) faultblob.Fault {
		return map[bool]faultblob.Fault{true: faultblob.Before}[c.Number < 3]
	})
	policy := blob.Policy{Attempts: 3, Random: func() float64 { return 0 }, Sleep: blob.Sleep}
	m := new(Meter)
	if err := blob.Retry(Bucket(inner), policy).Replace(With(t.Context(), m), "a", []byte("12")); err != nil {
		t.Fatal(err)
	}
	want := Cost{Requests: 3, Bytes: 6, DependentSteps: 3}
	if diff := cmp.Diff(want, m.Cost(Prices{}, 0)); diff != "" {
		t.Errorf("cost (-want +got):\n%s", diff)
	}
}

// A context with a meter is given a second meter. Requests with the new context must count in the
// second meter only, and requests with the old context in the first only.
func TestNested(t *testing.T) {
	outer, inner, b := new(Meter), new(Meter), Bucket(memblob.New())
	ctx := With(t.Context(), outer)
	_, _ = b.Head(With(ctx, inner), "a")
	_, _ = b.Head(ctx, "a")
	if o, i := outer.Requests().Head, inner.Requests().Head; o != 1 || i != 1 {
		t.Errorf("counted %d and %d, want 1 each", o, i)
	}
}

// Without a meter nothing is counted, and nothing allocated.
func TestWithoutMeter(t *testing.T) {
	ctx, b := t.Context(), Bucket(nothing{})
	allocations := testing.AllocsPerRun(100, func() {
		fork := NewFork(ctx)
		_, _ = b.Get(fork.Branch(), "a", blob.Range{})
		fork.Waited()
		Hit(ctx, 1)
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// nothing is a store that does nothing and answers at once.
type nothing struct{ blob.Bucket }

func (nothing) Get(context.Context, string, blob.Range) ([]byte, error) { return nil, nil }

// Several goroutines may use a meter at the same time.
func TestConcurrent(t *testing.T) {
	m, b := new(Meter), Bucket(memblob.New())
	fork := NewFork(With(t.Context(), m))
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			ctx := fork.Branch()
			for range i % 7 {
				_, _ = b.Head(ctx, fmt.Sprint(i))
			}
			Hit(ctx, 2)
		})
	}
	group.Wait()
	want := Cost{Requests: 7*(0+1+2+3+4+5+6) + 0, DependentSteps: 6, CacheHits: 100}
	if diff := cmp.Diff(want, m.Cost(Prices{}, 0)); diff != "" {
		t.Errorf("cost (-want +got):\n%s", diff)
	}
}

func BenchmarkGet(b *testing.B) {
	for name, ctx := range map[string]context.Context{"without": b.Context(), "with": With(b.Context(), new(Meter))} {
		b.Run(name, func(b *testing.B) {
			counted := Bucket(nothing{})
			b.ReportAllocs()
			for b.Loop() {
				_, _ = counted.Get(ctx, "a", blob.Range{})
			}
		})
	}
}

// TestAdd adds what two other processes have spent in parallel to an operation that has sent requests itself.
func TestAdd(t *testing.T) {
	elsewhere := new(Meter)
	use(With(t.Context(), elsewhere), Bucket(memblob.New()))
	Hit(With(t.Context(), elsewhere), 2)
	spent := elsewhere.Spent(0.5)
	m := new(Meter)
	ctx := With(t.Context(), m)
	use(ctx, Bucket(memblob.New()))
	own := m.Cost(USEast1(), 0)
	fork := NewFork(ctx)
	for range 2 {
		Add(fork.Branch(), spent)
	}
	Add(t.Context(), spent) // no meter: nothing is counted
	got := m.Cost(USEast1(), 0)
	want := Cost{
		Requests: 3 * own.Requests, Bytes: 3 * own.Bytes, DependentSteps: 2 * own.DependentSteps, CacheHits: own.CacheHits + 4,
		USD: USEast1().Of(m.Requests(), 3, 1),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
