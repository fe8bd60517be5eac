package sweep

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

func TestRebuild(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb)
		for epoch := uint64(1); epoch <= 3; epoch++ {
			w.run()
			want := []frontierOf{
				{epoch, frontier.Counts{Waiting: 1, Stored: 1}, ids(two)},
				{epoch, frontier.Counts{Waiting: 2, Skipped: 1, Failed: 1}, ids(one+"retried", one+"new")},
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
		lease, leased, err := frontier.New(rdb, 1).Lease(t.Context(), frontier.Request{
			Now: w.clock.Now(), Deadline: w.clock.Now().Add(time.Minute), Max: 10, MaxBytes: 1000, Connections: 1,
		})
		if err != nil || !leased || lease.Version.Epoch != 4 {
			t.Fatalf("leased %v %+v, %v", leased, lease, err)
		}
		attempts := make(map[string]uint8)
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

// TestRebuildUnderOtherSettings takes up what an earlier scope left out, and
// what failed, and forgets who has what on lease.
func TestRebuildUnderOtherSettings(t *testing.T) {
	w := newWorld(t, redistest.Embedded(t))
	w.run()
	c := w.inForce.Collection(functionstest.Collection)
	w.inForce = functionstest.Republish(t, w.bucket, c, func(c *collection.Collection) {
		c.Seeds[0].Scope, c.Again = collection.Any, functionstest.Start.Add(time.Second)
	})
	w.run()
	var pending []string
	for crawl := range 2 {
		f := w.frontier(crawl)
		if f.Epoch != 2 {
			t.Errorf("partition %d is in epoch %d, want 2", crawl, f.Epoch)
		}
		pending = append(pending, f.Pending...)
	}
	slices.Sort(pending)
	want := ids(two, one+"failed", one+"retried", one+"new", "http://elsewhere.example/")
	if diff := cmp.Diff(want, pending); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
}

func TestRebuildFailsWithoutABook(t *testing.T) {
	w := newWorld(t, redistest.Embedded(t))
	lost := functionstest.Keys(t, w.bucket, layout.Books)[0]
	if err := w.bucket.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), lost) {
		t.Errorf("Run: %v, want the key of the book", err)
	}
	if _, err := frontier.New(w.Redis, 0).Epoch(t.Context()); !errors.Is(err, frontier.ErrNotBuilt) {
		t.Errorf("the frontier is open: %v", err)
	}
	if keys := functionstest.Keys(t, w.bucket, layout.Epochs); keys != nil {
		t.Errorf("epochs %v were claimed in vain", keys)
	}
}

func TestAnotherRebuilds(t *testing.T) {
	w := newWorld(t, redistest.Embedded(t))
	if _, _, err := lease.New(w.Redis, "another").Acquire(t.Context(), "rebuild", w.clock.Now(), leaseTime); err != nil {
		t.Fatal(err)
	}
	w.run()
	if keys := functionstest.Keys(t, w.bucket, layout.Epochs); keys != nil {
		t.Errorf("epochs %v were claimed beside another", keys)
	}
	w.clock.Advance(leaseTime)
	w.run()
	if got := w.frontier(0).Epoch; got != 1 {
		t.Errorf("epoch %d, want 1", got)
	}
}
