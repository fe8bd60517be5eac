package restore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

func TestRebuild(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb)
		for epoch := uint64(2); epoch <= 4; epoch++ {
			w.run()
			want := []frontierOf{
				{functionstest.Frontier{Epoch: epoch, Pending: ids(two)}, frontier.Counts{Waiting: 1, Stored: 1}},
				{functionstest.Frontier{Epoch: epoch, Pending: ids(one+"retried", one+"new")}, frontier.Counts{Waiting: 2, Skipped: 1, Failed: 1}},
			}
			for crawl := range want {
				if diff := cmp.Diff(want[crawl], w.frontier(crawl)); diff != "" {
					t.Errorf("epoch %d, partition %d (-want +got):\n%s", epoch, crawl, diff)
				}
			}
			w.run() // finds nothing to rebuild
			if got := w.frontier(0).Epoch; got != epoch {
				t.Errorf("epoch %d after another sweep, want %d", got, epoch)
			}
			if err := rdb.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		w.run()
		w.clock.Advance(batch.MaxTime) // until then, batches of the former epoch may be on lease
		attempts := make(map[string]uint8)
		lease := w.lease(1)
		if lease.Version.Epoch != 5 {
			t.Errorf("leased in epoch %d", lease.Version.Epoch)
		}
		for _, e := range lease.Entries {
			attempts[e.URL] = e.Attempts
			if e.Depth != 1 || e.Collection != functionstest.Collection || e.Host != "one.example" {
				t.Errorf("entry %+v", e)
			}
		}
		if diff := cmp.Diff(map[string]uint8{one + "retried": 2, one + "new": 0}, attempts); diff != "" {
			t.Errorf("attempts (-want +got):\n%s", diff)
		}
	})
}

// TestRebuildUnderOtherSettings publishes a collection anew, with a wider scope and with the demand
// that failed URLs be requested again. It checks that a rebuild then queues the URLs that the
// earlier scope excluded, and those that have failed.
func TestRebuildUnderOtherSettings(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.run()
	c := w.inForce.Collection(functionstest.Collection)
	w.clock.Advance(time.Second)
	w.inForce = functionstest.Republish(t, w.bucket, c, func(c *collection.Collection) {
		c.Seeds[0].Scope, c.Again = collection.Any, w.clock.Now()
	})
	w.run()
	var pending []string
	for crawl := range 2 {
		f := w.frontier(crawl)
		if f.Epoch != 3 {
			t.Errorf("partition %d is in epoch %d, want 3", crawl, f.Epoch)
		}
		pending = append(pending, f.Pending...)
	}
	slices.Sort(pending)
	want := ids(two, one+"retried", one+"new", "http://elsewhere.example/")
	if diff := cmp.Diff(want, pending); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	if got := w.frontier(1).Counts; got.Failed != 1 || got.Again != 1 {
		t.Errorf("%+v, want that the URL waits again that has failed", got)
	}
}

// TestNoRebuildWithoutGenerations checks that frontiers, the queues in Redis, stay as they are
// while generations of the manifest are lost.
func TestNoRebuildWithoutGenerations(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.run()
	epoch, err := frontier.New(w.Redis, 0).Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{layout.Manifests, layout.Hints} {
		for _, key := range functionstest.Keys(t, w.bucket, prefix) {
			if err := w.bucket.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.sweep(); !errors.Is(err, partition.ErrLost) || !strings.Contains(err.Error(), "run bucketsearch verify --repair") {
		t.Errorf("sweep: %v", err)
	}
	if now, err := frontier.New(w.Redis, 0).Epoch(t.Context()); err != nil || now != epoch {
		t.Errorf("the frontier is of epoch %d, and was of %d: %v", now, epoch, err)
	}
}

func TestRebuildFailsWithoutABook(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	lost := functionstest.Keys(t, w.bucket, layout.Books)[0]
	if err := w.bucket.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	if err := w.sweep(); err == nil || !strings.Contains(err.Error(), lost) {
		t.Errorf("sweep: %v, want the key of the book", err)
	}
	if _, err := frontier.New(w.Redis, 0).Epoch(t.Context()); !errors.Is(err, frontier.ErrNotBuilt) {
		t.Errorf("the frontier is open: %v", err)
	}
	if keys := functionstest.Keys(t, w.bucket, layout.Epochs); keys != nil {
		t.Errorf("epochs %v were claimed in vain", keys)
	}
}

func TestAnotherRebuilds(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	if _, _, err := lease.New(w.Redis, "another").Acquire(t.Context(), "rebuild", w.clock.Now(), leaseTime); err != nil {
		t.Fatal(err)
	}
	w.run()
	if keys := functionstest.Keys(t, w.bucket, layout.Epochs); keys != nil {
		t.Errorf("epochs %v were claimed beside another", keys)
	}
	w.clock.Advance(leaseTime)
	w.run()
	if got := w.frontier(0).Epoch; got != 2 {
		t.Errorf("epoch %d, want 2", got)
	}
}

// TestFrontierIsBehind checks that a frontier is rebuilt if it was not told of a commit: because
// Redis was restored from an old copy, or because repair has changed the books.
func TestFrontierIsBehind(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb)
		learn := func(name string) {
			functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Learnt = name })
		}
		learn("first")
		epochs := func(when string, want uint64) {
			t.Helper()
			w.run()
			for crawl := range 2 {
				if got := w.frontier(crawl).Epoch; got != want {
					t.Errorf("%s: partition %d is in epoch %d, want %d", when, crawl, got, want)
				}
			}
		}
		epochs("at first", 2)
		epochs("nothing new", 2)
		for crawl := range 2 {
			if err := frontier.New(rdb, crawl).Learning(t.Context(), 0, "first", "told"); err != nil {
				t.Fatal(err)
			}
		}
		learn("told")
		epochs("it was told", 2)
		learn("untold")
		epochs("it was not told", 3)
		epochs("it has read that", 3)
	})
}

// TestDistrustedWhileRebuilt checks that a rebuild fails if its frontier is invalidated after the
// rebuild has read the bucket, and that the next rebuild reads the bucket again.
func TestDistrustedWhileRebuilt(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb)
		w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
			if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Epochs) {
				if err := frontier.New(rdb, 1).Distrust(t.Context()); err != nil {
					t.Error(err)
				}
			}
			return faultblob.None
		})
		if err := w.sweep(); !errors.Is(err, frontier.ErrReset) {
			t.Errorf("sweep: %v, want ErrReset", err)
		}
		if _, err := frontier.New(rdb, 1).Epoch(t.Context()); !errors.Is(err, frontier.ErrNotBuilt) {
			t.Errorf("Epoch: %v, want ErrNotBuilt", err)
		}
		w.Bucket = w.bucket
		w.run()
		if got := w.frontier(1); got.Epoch != 3 || len(got.Pending) == 0 {
			t.Errorf("rebuilt as %+v", got)
		}
	})
}

// TestRebuildByHand checks that Rebuild also rebuilds frontiers that nothing is wrong with.
func TestRebuildByHand(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	for epoch := uint64(2); epoch <= 3; epoch++ {
		done, err := w.Rebuild(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Rebuilt{Epoch: epoch, URLs: 6, Pending: 3}, done); diff != "" {
			t.Errorf("rebuilt (-want +got):\n%s", diff)
		}
		if got := len(w.frontier(0).Pending) + len(w.frontier(1).Pending); got != done.Pending {
			t.Errorf("%d are pending", got)
		}
	}
	if _, _, err := lease.New(w.Redis, "another").Acquire(t.Context(), "rebuild", w.clock.Now(), leaseTime); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Rebuild(t.Context()); !errors.Is(err, ErrRebuilding) {
		t.Errorf("Rebuild: %v, want %v", err, ErrRebuilding)
	}
}

// TestRebuildOfMany checks that a rebuild restores all URLs of a crawl partition if they are more
// than are written into Redis in one call (shareSize).
func TestRebuildOfMany(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb)
		const each = shareSize + 100
		var learnt book.Book
		for i := range each {
			learnt.Outcomes = append(learnt.Outcomes, functionstest.Outcome(t, version(50), fmt.Sprint(one, "failed/", i), book.Failed))
			learnt.Links = append(learnt.Links, functionstest.Link(t, one, fmt.Sprint(one, "failed/", i), 1), functionstest.Link(t, one, fmt.Sprint(two, i), 1))
		}
		functionstest.Learn(t, w.bucket, 0, learnt)
		done, err := w.Rebuild(t.Context())
		if err != nil || done.URLs != 2*each+6 || done.Pending != each+3 {
			t.Errorf("%+v, %v", done, err)
		}
		if got := w.frontier(0).Counts.Waiting; got != each+1 {
			t.Errorf("%d wait in partition 0, want %d", got, each+1)
		}
		if got := w.frontier(1).Counts.Failed; got != each+1 {
			t.Errorf("%d failed in partition 1, want %d", got, each+1)
		}
	})
}

// TestRebuildEndsWithoutRedis checks that a rebuild fails if Redis does not answer.
func TestRebuildEndsWithoutRedis(t *testing.T) {
	rdb := redistest.Server(t)
	w := newWorld(t, rdb)
	books, err := account.Read(t.Context(), w.bucket, w.inForce)
	if err != nil {
		t.Fatal(err)
	}
	if err := rdb.Close(); err != nil {
		t.Fatal(err)
	}
	r := &rebuilding{
		fronts: map[int]*frontier.Frontier{0: frontier.New(rdb, 0), 1: frontier.New(rdb, 1)},
		pacer:  &paceKeeper{settings: w.inForce, now: w.Now()},
	}
	if err := w.loadAll(t.Context(), r, books, false); err == nil {
		t.Error("no error")
	}
}
