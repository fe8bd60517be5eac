package lease

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func TestDo(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, leases := t.Context(), New(rdb, "a")
		broken := errors.New("broken")
		for range 2 { // given back after the first
			did, err := leases.Do(ctx, "x", noon, time.Minute, func() error {
				did, err := leases.Do(ctx, "x", noon, time.Minute, func() error {
					t.Error("works while another call of the same worker does")
					return nil
				})
				if did || err != nil {
					t.Errorf("Do meanwhile: %v, %v", did, err)
				}
				return broken
			})
			if !did || !errors.Is(err, broken) {
				t.Errorf("Do: %v, %v, want the error of the work", did, err)
			}
		}
	})
}

func TestOnce(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for _, step := range []struct {
			second int
			want   bool
		}{{0, true}, {0, false}, {59, false}, {60, true}, {61, false}} {
			now := noon.Add(time.Duration(step.second) * time.Second)
			got, err := New(rdb, "a").Once(t.Context(), "x", now, time.Minute)
			if got != step.want || err != nil {
				t.Errorf("at %d s: %v, %v, want %v", step.second, got, err, step.want)
			}
		}
	})
}
