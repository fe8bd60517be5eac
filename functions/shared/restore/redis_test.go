package restore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestOlder checks what happens if Redis was restored from an old copy. Then the spool (fetched
// batches) may have a batch with a higher number than Redis has given out so far. If and only if it
// has one, all frontiers (queues of URLs in Redis) must be rebuilt.
func TestOlder(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb)
		w.run()
		w.lease(1) // gives token 1
		for _, step := range []struct {
			spooled []layout.Version
			epoch   uint64
		}{
			{nil, 2},
			{[]layout.Version{{Epoch: 2, Token: 1}}, 2},
			{[]layout.Version{{Epoch: 2, Token: 1}, {Epoch: 2, Token: 7}}, 3},
			{[]layout.Version{{Epoch: 2, Token: 99}}, 3},
			{[]layout.Version{{Epoch: 4, Token: 1}}, 4},
		} {
			if err := w.Older(t.Context(), w.inForce, step.spooled); err != nil {
				t.Fatal(err)
			}
			for crawl := range 2 {
				if got := w.frontier(crawl).Epoch; got != step.epoch {
					t.Errorf("%v in the spool: partition %d is in epoch %d, want %d", step.spooled, crawl, got, step.epoch)
				}
			}
		}
	})
}

// TestLostTokens checks that all frontiers are rebuilt when Redis has lost its counter of tokens
// (numbers of batches).
func TestLostTokens(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.run()
	w.lease(1)
	if err := w.Redis.Del(t.Context(), "frontier:token").Err(); err != nil {
		t.Fatal(err)
	}
	w.run()
	for crawl := range 2 {
		if got := w.frontier(crawl).Epoch; got != 3 {
			t.Errorf("partition %d is in epoch %d, want 3", crawl, got)
		}
	}
}

// TestLostKey deletes several keys of a frontier from Redis, one after the other. After each
// deletion, the next sweep must rebuild the frontier.
func TestLostKey(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.run()
	w.lease(1)
	for i, key := range []string{"counts", "known", "leases", "learnt"} {
		if key == "leases" { // after the deadline of the first lease, so that its host can be leased again
			w.clock.Advance(2 * time.Hour)
			if _, err := frontier.New(w.Redis, 1).Expire(t.Context(), w.clock.Now()); err != nil {
				t.Fatal(err)
			}
			w.lease(1)
		}
		if err := w.Redis.Del(t.Context(), "f:{1}:"+key).Err(); err != nil {
			t.Fatal(err)
		}
		w.run()
		got := w.frontier(1)
		if got.Epoch != uint64(i+3) || got.Counts.Waiting != 2 || len(got.Pending) != 2 {
			t.Errorf("%s lost: %+v, want it rebuilt, with two that wait", key, got)
		}
	}
}

// TestTwoLayouts lets a newer version of the program, with another layout of frontiers, build them beside this one: this one
// must leave them alone until the newer one is gone.
func TestTwoLayouts(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb)
		w.run()
		const newer = "1000:7" // the epoch 7 in layout 1000
		for crawl := range 2 {
			w.must(rdb.Set(t.Context(), fmt.Sprintf("f:{%d}:epoch", crawl), newer, 0).Err())
		}
		w.must(rdb.ZAdd(t.Context(), "frontier:layouts", redis.Z{Score: float64(w.clock.Now().UnixMilli()), Member: "1000"}).Err())
		epochs := func() (all []string) {
			for crawl := range 2 {
				all = append(all, rdb.Get(t.Context(), fmt.Sprintf("f:{%d}:epoch", crawl)).Val())
			}
			return all
		}
		for range 3 {
			w.clock.Advance(5 * time.Minute)
			w.run()
			if got := epochs(); !slices.Equal(got, []string{newer, newer}) {
				t.Fatalf("after %v, the frontiers are in %v", w.clock.Now(), got)
			}
		}
		w.clock.Advance(time.Minute)
		w.run()
		for crawl := range 2 {
			if got := w.frontier(crawl).Epoch; got != 3 {
				t.Errorf("after the newer one is gone, partition %d is in epoch %d, want 3", crawl, got)
			}
		}
	})
}
