package pack

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// beforeCall is a hook of the Redis client. Before each call to Redis it calls a function with the
// number of the call, from 0.
type beforeCall struct {
	next int
	do   func(call int)
}

func (h *beforeCall) count() {
	h.do(h.next)
	h.next++
}

func (h *beforeCall) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *beforeCall) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		h.count()
		return next(ctx, c)
	}
}

func (h *beforeCall) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, c []redis.Cmder) error {
		h.count()
		return next(ctx, c)
	}
}

// copyRedis replaces the content of one Redis database by a copy of another.
func copyRedis(t *testing.T, from, to *redis.Client) {
	t.Helper()
	if err := to.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	keys, err := from.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := from.Copy(t.Context(), key, key, to.Options().DB, true).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOlderCopyMeanwhile simulates a Redis that goes back to an older state while Settle runs. The
// test copies the content of Redis before one of Settle's calls to Redis, and puts it back before a
// later call, for all pairs of calls. If the batch counts as settled afterwards, the frontier must
// have its outcomes and links. Otherwise the next Settle must add them.
func TestOlderCopyMeanwhile(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		older := redis.NewClient(&redis.Options{Network: rdb.Options().Network, Addr: rdb.Options().Addr, DB: 1})
		defer older.Close()
		calls := 1
		for copied := 0; copied < calls; copied++ {
			for back := copied + 1; back <= calls; back++ {
				if err := rdb.FlushAll(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
				w := newWorld(t, rdb, nil)
				functionstest.Admit(t, rdb, w.inForce, site+"1")
				l := w.stored(1)
				l.Links = []book.Link{functionstest.Link(t, site+"1", site+"2", 1)}
				w.spool(l)
				hook := &beforeCall{do: func(call int) {
					if call == copied {
						copyRedis(t, rdb, older)
					}
					if call == back {
						copyRedis(t, older, rdb)
					}
				}}
				settling := rdb.WithTimeout(time.Minute)
				settling.AddHook(hook)
				w.Redis = settling
				err := w.Settle(t.Context(), spoolKey(1))
				calls = max(calls, hook.next)
				if hook.next == back {
					copyRedis(t, older, rdb)
				}
				w.Redis = rdb
				want := frontier.Counts{Waiting: 2, Stored: 1}
				for again := range 2 {
					got := functionstest.Counts(t, rdb, 0)
					settled := len(w.waiting()) == 1 && w.waiting()[0].Settled
					if settled && got != want || again == 1 && !settled {
						t.Errorf("copied before call %d, back before %d: settled: %v, frontier %+v, Settle: %v", copied, back, settled, got, err)
					}
					w.settle(1)
				}
			}
		}
	})
}
