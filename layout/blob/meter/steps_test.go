package meter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

func TestSteps(t *testing.T) {
	b := Bucket(memblob.New())
	ask := func(ctx context.Context, times int) {
		for range times {
			_, _ = b.Head(ctx, "a")
		}
	}
	for _, c := range []struct {
		name string
		do   func(ctx context.Context)
		want int64
	}{
		{"nothing", func(context.Context) {}, 0},
		{"one after another", func(ctx context.Context) { ask(ctx, 3) }, 3},
		{"side by side, though one after another", func(ctx context.Context) {
			fork := NewFork(ctx)
			for i := range 5 {
				ask(fork.Branch(), i%3)
			}
		}, 2},
		{"behind a fork", func(ctx context.Context) {
			ask(ctx, 1)
			fork := NewFork(ctx)
			ask(fork.Branch(), 4)
			ask(fork.Branch(), 2)
			ask(ctx, 1)
		}, 6},
		{"a fork in a branch", func(ctx context.Context) {
			fork := NewFork(ctx)
			branch := fork.Branch()
			ask(branch, 1)
			inner := NewFork(branch)
			ask(inner.Branch(), 2)
			ask(inner.Branch(), 3)
			ask(branch, 1)
			ask(fork.Branch(), 1)
		}, 5},
		{"one waits for another operation", func(ctx context.Context) {
			ask(ctx, 1)
			fork := NewFork(ctx)
			fork.Waited()
			fork.Waited()
			ask(fork.Branch(), 1)
		}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := new(Meter)
			c.do(With(t.Context(), m))
			if got := m.Cost(Prices{}, 0).DependentSteps; got != c.want {
				t.Errorf("%d steps, want %d", got, c.want)
			}
		})
	}
}

// A listing of more than a thousand objects takes several requests, each of which is a dependent
// step. A request between two of them, and one after the listing, must count as steps of the same
// chain.
func TestStepsOfList(t *testing.T) {
	b, m := Bucket(memblob.New()), new(Meter)
	for i := range 2_500 {
		if err := b.Create(t.Context(), fmt.Sprintf("%04d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, seen := With(t.Context(), m), 0
	for object := range b.List(ctx, "", "") {
		if seen++; seen == 1_500 {
			_, _ = b.Head(ctx, object.Key)
		}
	}
	for range b.List(ctx, "absent", "") {
		t.Error("an object")
	}
	if got := m.Cost(Prices{}, 0); got.DependentSteps != 5 || got.Requests != 5 {
		t.Errorf("%+v, want 5 steps of 5 requests", got)
	}
}

// slow is a store that takes a second for each request, by the fake clock of package
// testing/synctest.
type slow struct{ blob.Bucket }

func (s slow) Head(ctx context.Context, key string) (int64, error) {
	time.Sleep(time.Second)
	return s.Bucket.Head(ctx, key)
}

// The same operation runs twice: with a store that takes no time, and with a store that takes one
// second for each request. The number of steps counted in the first run must be the number of
// seconds that the second run takes.
func TestStepsAreTime(t *testing.T) {
	for seed := range uint64(50) {
		fast, slowly := new(Meter), new(Meter)
		tree(rand.New(rand.NewPCG(seed, 0)), With(t.Context(), fast), Bucket(memblob.New()), 4)
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			tree(rand.New(rand.NewPCG(seed, 0)), With(t.Context(), slowly), Bucket(slow{memblob.New()}), 4)
			seconds := int64(time.Since(begun) / time.Second)
			a, b := fast.Cost(Prices{}, 0), slowly.Cost(Prices{}, 0)
			if a.DependentSteps != seconds || a != b {
				t.Errorf("seed %d: %d seconds; %+v, slowly %+v", seed, seconds, a, b)
			}
		})
	}
}

// tree makes a random tree of requests: some one after another, others at the same time, in
// branches of a Fork.
func tree(random *rand.Rand, ctx context.Context, b blob.Bucket, depth int) {
	for range random.IntN(3) {
		_, _ = b.Head(ctx, "a")
	}
	if depth == 0 {
		return
	}
	for range random.IntN(3) {
		fork := NewFork(ctx)
		var group sync.WaitGroup
		for range random.IntN(4) {
			seed := random.Uint64()
			group.Go(func() { tree(rand.New(rand.NewPCG(seed, 0)), fork.Branch(), b, depth-1) })
		}
		group.Wait()
		if random.IntN(2) == 0 {
			_, _ = b.Head(ctx, "a")
		}
	}
}
