package frontier

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func TestBuilt(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		f := fixture{New(rdb, 3), t}
		if err := f.Built(t.Context(), ""); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("Built before Open: %v, want ErrNotBuilt", err)
		}
		f.must(f.Open(t.Context(), 1, "small", nil))
		f.must(f.Built(t.Context(), "small"))
		if err := f.Built(t.Context(), "wide"); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("Built under other settings: %v, want ErrNotBuilt", err)
		}
		f.must(f.Distrust(t.Context()))
		if err := f.Built(t.Context(), "small"); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("Built after Distrust: %v, want ErrNotBuilt", err)
		}
	})
}

// TestUnder: a frontier is built under certain settings. Under returns a Frontier for other settings;
// the calls of this Frontier fail and change nothing.
func TestUnder(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		f := fixture{New(rdb, 3), t}
		small, wide := f.Under("small"), f.Under("wide")
		refuses := func(when string, f *Frontier) {
			t.Helper()
			_, admitted := f.Admit(t.Context(), noon, entries("a", 2))
			_, settled := f.Settle(t.Context(), Settlement{Outcomes: []Result{result(entry("a", "x", 1), book.Stored)}})
			if !errors.Is(admitted, ErrNotBuilt) || !errors.Is(settled, ErrNotBuilt) {
				t.Errorf("%s: Admit: %v, Settle: %v, want ErrNotBuilt", when, admitted, settled)
			}
		}
		refuses("while Redis is empty", small)
		f.must(f.Open(t.Context(), 1, "wide", nil))
		refuses("under other settings", small)
		if diff := cmp.Diff(Counts{}, f.counts()); diff != "" {
			t.Error(diff)
		}
		fixture{wide, t}.admit(noon, entries("a", 1)...)
		fixture{wide, t}.settle(Settlement{Outcomes: []Result{result(entry("a", "x", 1), book.Stored)}})
		if diff := cmp.Diff(Counts{Waiting: 1, Stored: 1}, f.counts()); diff != "" {
			t.Error(diff)
		}
		f.must(f.Reset(t.Context()))
		refuses("while it is rebuilt", wide)
	})
}

func TestReset(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entries("a", 300)...)
		f.admit(noon, entries("b", 300)...)
		a := f.lease(request(noon)) // host a has a lease and still a queue
		b := f.lease(request(at(1)))
		unwell := settlement(b, at(5), book.Retry)
		unwell.Failures = 7
		f.settle(unwell)
		f.waitAgain(book.Stored, entry("b", "stored", 1), entry("c", "stored", 1))
		other := fixture{New(f.rdb, 4), t}
		other.admit(noon, entries("a", 1)...)

		f.must(f.Reset(t.Context()))
		if _, err := f.Epoch(t.Context()); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("Epoch: %v, want ErrNotBuilt", err)
		}
		names, err := f.rdb.Keys(t.Context(), "f:{3}:*").Result()
		f.must(err)
		slices.Sort(names)
		left := []string{"active", "closed", "counts", "failures", "generation", "lease:" + a.Version.String(), "leases", "next", "out", "rebuild"}
		for i, name := range left {
			left[i] = f.key(name)
		}
		if diff := cmp.Diff(left, names); diff != "" {
			t.Errorf("keys left: %s", diff)
		}
		if n := other.counts().Waiting; n != 1 {
			t.Errorf("%d wait in another partition, want 1", n)
		}

		// A lease of the old epoch keeps its host from being leased until it is settled; delays
		// still apply.
		f.must(f.Open(t.Context(), 2, "", nil))
		f.admit(noon, entries("a", 1)...)
		f.noLease(request(at(59)))
		f.settle(settlement(a, at(9), book.NotAsked))
		f.noLease(request(at(9.9)))
		f.lease(request(at(10)))
		f.admit(noon, entries("b", 1)...)
		f.noLease(request(at(5.9)))
		if n := f.lease(request(at(6))).Failures; n != 7 {
			t.Errorf("%d failures in a row, want those of the old life, 7", n)
		}
	})
}

// TestTwoRebuilds: when a second rebuild calls Reset, the first one can admit nothing more and
// cannot open the frontier.
func TestTwoRebuilds(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		first, second := fixture{New(f.rdb, 3), t}, fixture{New(f.rdb, 3), t}
		f.must(first.Reset(t.Context()))
		first.admit(noon, entries("a", 1)...)
		f.must(second.Reset(t.Context()))
		late := func(when string, f fixture) {
			t.Helper()
			_, admitted := f.Admit(t.Context(), noon, entries("a", 1))
			marked := f.Mark(t.Context(), []Known{{State: book.Stored}})
			fix := f.Open(t.Context(), 9, "old", nil)
			if !errors.Is(admitted, ErrReset) || !errors.Is(marked, ErrReset) || !errors.Is(fix, ErrReset) {
				t.Errorf("%s: Admit: %v, Mark: %v, Open: %v, want ErrReset", when, admitted, marked, fix)
			}
			if diff := cmp.Diff(Counts{}, f.counts()); diff != "" {
				t.Error(diff)
			}
		}
		late("after another's Reset", first)
		if _, err := f.Epoch(t.Context()); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("Epoch: %v, want ErrNotBuilt", err)
		}
		f.must(second.Open(t.Context(), 6, "new", nil))
		f.must(second.Open(t.Context(), 6, "new", nil)) // the call is repeated, as after a lost reply
		late("when another has opened it", first)
		f.must(f.Built(t.Context(), "new"))
		f.must(f.Distrust(t.Context()))
		late("when it was distrusted", second)
	})
}

// TestResetMeanwhile calls Reset while other goroutines admit and settle. Afterwards all known
// URLs must be counted and be in a queue.
func TestResetMeanwhile(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		var group sync.WaitGroup
		for w := range 8 {
			group.Go(func() {
				for i := range 20 {
					list := entries(fmt.Sprintf("host%d", (w+i)%10), 30)
					if _, err := f.Admit(t.Context(), noon, list); err != nil {
						t.Error(err)
					}
					if lease, ok, err := f.Lease(t.Context(), request(noon)); err == nil && ok {
						if _, err := f.Settle(t.Context(), settlement(lease, noon.Add(-time.Hour), book.Stored)); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		for range 10 {
			rebuild := New(f.rdb, 3)
			f.must(rebuild.Reset(t.Context()))
			f.must(rebuild.Open(t.Context(), 1, "", nil))
		}
		group.Wait()
		pending := len(f.pending())
		if c := f.counts(); int(c.Waiting) != pending || c.Leased != 0 {
			t.Errorf("%+v, want %d waiting", c, pending)
		}
		for pending > 0 {
			pending -= len(f.lease(request(noon)).Entries)
		}
		if c := f.counts(); c.Waiting != 0 {
			t.Errorf("%+v, want none waiting", c)
		}
	})
}

// TestKeeping: after Redis has lost a write of a Frontier that Keeping returned, further calls of this
// Frontier write nothing, and Kept returns an error.
func TestKeeping(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		keeping := f.Under("").Keeping()
		other := f.Under("").Keeping()
		for _, path := range []string{"1", "2"} {
			if _, err := keeping.Admit(t.Context(), noon, []Entry{entry("a", path, 1)}); err != nil {
				t.Fatal(err)
			}
		}
		f.must(keeping.Kept(t.Context()))
		f.must(f.rdb.FlushAll(t.Context()).Err())
		f.must(f.Open(t.Context(), 1, "", nil))
		if _, err := keeping.Admit(t.Context(), noon, []Entry{entry("a", "3", 1)}); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("Admit: %v, want ErrNotBuilt", err)
		}
		if err := keeping.Kept(t.Context()); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("Kept: %v, want ErrNotBuilt", err)
		}
		if n := f.counts().Waiting; n != 0 {
			t.Errorf("%d wait, want none", n)
		}
		f.must(other.Kept(t.Context())) // other has written nothing
	})
}
