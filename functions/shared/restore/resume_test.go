package restore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// picture is what tests compare of all frontiers: the state of each known URL without its numbers of
// attempts and the like, and the hosts with a URL that waits.
type picture struct {
	States map[string]string
	Hosts  []string
}

// picture reads the picture of the frontiers from Redis.
func (w *world) picture() picture {
	w.t.Helper()
	p := picture{States: make(map[string]string)}
	for _, crawl := range w.inForce.Crawl.Partitions() {
		prefix := fmt.Sprintf("f:{%d}:", crawl)
		for id, state := range redistest.Known(w.t, w.Redis, crawl) {
			switch state[0] {
			case 'w', 'l', 'p':
				state = state[:1]
			case 'W', 'L':
				state = state[:1] + " " + state[7:min(len(state), 7+10)]
			default:
				state = state[:10]
			}
			p.States[layout.Identity([]byte(id)).String()] = fmt.Sprint(crawl, " ", state)
		}
		hosts, err := w.Redis.HKeys(w.t.Context(), prefix+"filled").Result()
		if err != nil {
			w.t.Fatal(err)
		}
		p.Hosts = append(p.Hosts, hosts...)
	}
	slices.Sort(p.Hosts)
	return p
}

// learnSeveralRanges commits a book with so many URLs that a rebuild needs several ranges. The URLs are
// long and random, so that a book cannot compress them.
func learnSeveralRanges(w *world) {
	random := rand.New(rand.NewPCG(1, 2))
	var learnt book.Book
	for i := range 15_000 {
		url := fmt.Sprintf("http://host%d.example/", i%100)
		for range 57 { // some 980 bytes: a longer URL would count as suspicious
			url += fmt.Sprintf("%x/", random.Uint64())
		}
		learnt.Links = append(learnt.Links, functionstest.Link(w.t, one, url, 1))
		if i%4 == 0 {
			learnt.Outcomes = append(learnt.Outcomes, functionstest.Outcome(w.t, version(50), url, book.Stored))
		}
	}
	functionstest.Learn(w.t, w.bucket, 0, learnt)
}

// dyingHook calls a function before each command to Redis. When the function returns true, the command
// fails, as if the process had died.
type dyingHook struct {
	mu   sync.Mutex // protects the field dies, and is locked during its calls
	dies func(cmd redis.Cmder) bool
}

// set sets the function dies.
func (h *dyingHook) set(dies func(cmd redis.Cmder) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dies = dies
}

func (h *dyingHook) check(cmd redis.Cmder) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dies != nil && h.dies(cmd) {
		return errors.New("the process is dead")
	}
	return nil
}

func (h *dyingHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := h.check(cmd); err != nil {
			return err
		}
		return next(ctx, cmd)
	}
}

func (h *dyingHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *dyingHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := h.check(cmds[0]); err != nil {
			return err
		}
		return next(ctx, cmds)
	}
}

// TestRebuildGoesOn kills a process that rebuilds, after some ranges. The next process must go on after these
// ranges, unless the settings have changed or Redis was lost. The frontiers must be the same as after an
// undisturbed rebuild.
func TestRebuildGoesOn(t *testing.T) {
	rdb := redistest.Server(t)
	w := newWorld(t, rdb)
	w.inForce = functionstest.Republish(t, w.bucket, w.inForce.Collection(functionstest.Collection), func(c *collection.Collection) {
		c.Seeds[0].Scope = collection.Any
	})
	learnSeveralRanges(w)
	hook := new(dyingHook)
	rdb.AddHook(hook)
	count := 0 // of saves since the last call of dieAfter
	dieAfter := func(most int) {
		dead := false
		count = 0
		hook.set(func(cmd redis.Cmder) bool {
			if dead = dead || count == most; dead {
				return true
			}
			if args := cmd.Args(); args[0] == "set" && args[1] == progressKey {
				count++
			}
			return false
		})
	}
	dieAfter(-1)
	w.run()
	want, saves := w.picture(), count
	if saves < 3 {
		t.Fatalf("%d saves, want several", saves)
	}
	for name, meanwhile := range map[string]func() error{
		"":                 func() error { return nil },
		"Redis is lost":    func() error { return rdb.FlushAll(t.Context()).Err() },
		"a later rebuild":  func() error { return rdb.Set(t.Context(), "f:{0}:rebuild", "another:7", 0).Err() },
		"a damaged record": func() error { return rdb.Set(t.Context(), "frontier:rebuilding", "{", 0).Err() },
		"settings have changed": func() error {
			w.inForce = functionstest.Republish(t, w.bucket, w.inForce.Collection(functionstest.Collection), func(c *collection.Collection) {
				c.Exclude = append(c.Exclude, "*/never")
			})
			return nil
		},
	} {
		if err := rdb.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		dieAfter(2)
		if err := w.sweep(); err == nil {
			t.Fatalf("%q: the process does not die", name)
		}
		dieAfter(-1)
		w.clock.Advance(leaseTime)
		if err := meanwhile(); err != nil {
			t.Fatal(err)
		}
		w.run()
		if resumed := count < saves; resumed != (name == "") {
			t.Errorf("%q meanwhile: %d saves, %d in a rebuild from the start", name, count, saves)
		}
		if got := w.picture(); !reflect.DeepEqual(want, got) { // cmp.Diff is slow if both are equal
			t.Errorf("%q meanwhile (-want +got):\n%s", name, cmp.Diff(want, got))
		}
		if n := rdb.Exists(t.Context(), progressKey).Val(); n != 0 {
			t.Errorf("%q meanwhile: the record of the progress is left", name)
		}
	}
}

// TestLongRebuild rebuilds frontiers for much longer than an older program waits for this one (see frontier.Superseded).
// All the time, it must not count as gone.
func TestLongRebuild(t *testing.T) {
	rdb := redistest.Server(t)
	w := newWorld(t, rdb)
	learnSeveralRanges(w)
	hook := new(dyingHook)
	rdb.AddHook(hook)
	began := w.clock.Now()
	hook.set(func(cmd redis.Cmder) bool {
		if args := cmd.Args(); args[0] == "set" && args[1] == progressKey {
			w.clock.Advance(10 * time.Minute)
		}
		return false
	})
	w.run()
	took := w.clock.Now().Sub(began)
	noted, err := rdb.ZRangeWithScores(t.Context(), "frontier:layouts", 0, -1).Result()
	if err != nil || len(noted) != 1 {
		t.Fatalf("%v, %v", noted, err)
	}
	if at := time.UnixMilli(int64(noted[0].Score)).Sub(began); took < 30*time.Minute || took-at > 10*time.Minute {
		t.Errorf("the rebuild ended after %v, and noted its layout last after %v", took, at)
	}
}
