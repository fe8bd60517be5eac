package lease

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func still(at time.Time) func() time.Time { return func() time.Time { return at } }

func TestDoHoldsTheNameWhileItWorks(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		leases := New(rdb, "w")
		do := func(at time.Time, work func() error) (bool, error) {
			return leases.Do(t.Context(), "name", still(at), time.Minute, work)
		}
		inner := 0
		worked, err := do(noon, func() error {
			// The holder's own name gives no second lease.
			worked, err := do(noon.Add(59*time.Second), func() error { inner++; return nil })
			if worked || err != nil {
				t.Errorf("while it is held: worked %v, %v", worked, err)
			}
			worked, err = do(noon.Add(time.Minute), func() error { inner++; return nil })
			if !worked || err != nil {
				t.Errorf("after its end: worked %v, %v", worked, err)
			}
			return nil
		})
		if !worked || err != nil || inner != 1 {
			t.Fatalf("worked %v, %v, %d times inside", worked, err, inner)
		}
		failure := errors.New("failure")
		if worked, err := do(noon, func() error { return failure }); !worked || !errors.Is(err, failure) {
			t.Errorf("after it was given back: worked %v, %v; want the failure of the work", worked, err)
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = do(noon, func() error { panic("crash") })
		}()
		ctx, cancel := context.WithCancel(t.Context())
		worked, err = leases.Do(ctx, "name", still(noon), time.Minute, func() error { cancel(); return ctx.Err() })
		if !worked || !errors.Is(err, context.Canceled) {
			t.Errorf("after a panic: worked %v, %v", worked, err)
		}
		if worked, err := do(noon, func() error { return nil }); !worked || err != nil {
			t.Errorf("after work that was cancelled: worked %v, %v", worked, err)
		}
	})
}

func TestDoRenews(t *testing.T) {
	rdb := redistest.Server(t)
	var calls atomic.Int64
	again := make(chan struct{})
	now := func() time.Time { // noon, then ten seconds later each time
		call := calls.Add(1)
		if call == 3 {
			close(again) // the first renewal has returned
		}
		return noon.Add(time.Duration(call-1) * 10 * time.Second)
	}
	_, err := New(rdb, "w").Do(t.Context(), "name", now, 30*time.Millisecond, func() error {
		<-again
		_, acquired, err := New(rdb, "other").Acquire(t.Context(), "name", noon.Add(10*time.Second), time.Minute)
		if acquired {
			t.Error("the lease was not renewed: another takes it ten seconds later")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnce(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		leases := New(rdb, "w")
		for _, step := range []struct {
			second int
			want   bool
		}{{0, true}, {0, false}, {59, false}, {60, true}, {119, false}, {120, true}} {
			got, err := leases.Once(t.Context(), "reminder", noon.Add(time.Duration(step.second)*time.Second), time.Minute)
			if got != step.want || err != nil {
				t.Errorf("at second %d: %v, %v; want %v", step.second, got, err, step.want)
			}
		}
	})
}
