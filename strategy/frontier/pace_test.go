package frontier

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// If a batch is leased when the frontier is rebuilt, no other URL of its host is leased until
// that lease ends.
func TestClosedUntilTheDeadline(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entries("a", 3)...)
		r := request(noon)
		r.Connections, r.Max = 2, 1
		lease := f.lease(r)
		for range 2 { // another rebuild does not change this
			f.must(f.Reset(t.Context()))
			f.admit(noon, entries("a", 3)...)
		}
		f.must(f.Open(t.Context(), 2, "", nil))
		if got := f.counts(); got.Batches != 1 || got.Waiting != 3 {
			t.Errorf("%+v, want one batch that is out, and 3 URLs that wait", got)
		}
		r.Now = lease.Deadline
		f.noLease(r)
		if _, err := f.Expire(t.Context(), lease.Deadline.Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		r.Now = lease.Deadline.Add(time.Millisecond)
		f.lease(r)
	})
}

// Hold enters a lease without the URLs of the lease. The lease's host must not be leased again until
// the lease is settled.
func TestHold(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		out := Held{Version: layout.Version{Epoch: 1, Token: 900}, Host: "a", Deadline: at(30)}
		for range 2 {
			f.must(f.Hold(t.Context(), []Held{out}))
		}
		f.admit(noon, entries("a", 1)...)
		f.admit(noon, entries("b", 1)...)
		b := f.lease(request(noon))
		f.noLease(request(at(29)))
		got, err := f.Held(t.Context())
		want := []Held{{b.Version, "b", b.Deadline, []string{b.Entries[0].URL}}, out}
		slices.SortFunc(want, func(x, y Held) int { return x.Deadline.Compare(y.Deadline) })
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("held, %v (-want +got):\n%s", err, diff)
		}
		f.settle(Settlement{Version: out.Version, Host: "a", Ended: at(20)})
		f.noLease(request(at(19)))
		f.lease(request(at(20)))
	})
}

// Shut sets a time before which no host may be leased. Settle and Rest set such a time for a single
// host. For this host, their time replaces the time of Shut, even if it is earlier.
func TestShut(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.must(f.Shut(t.Context(), at(100)))
		f.must(f.Shut(t.Context(), at(200))) // only the first call counts
		f.must(f.Reset(t.Context()))
		for _, host := range []string{"a", "b", "c"} {
			f.admit(noon, entries(host, 1)...)
		}
		f.must(f.Rest(t.Context(), []Resting{{"c", at(300), 5}}))
		f.must(f.Rest(t.Context(), []Resting{{"c", at(250), 3}}))
		f.must(f.Open(t.Context(), 2, "", nil))
		f.noLease(request(at(50)))
		f.settle(Settlement{Version: layout.Version{Epoch: 1, Token: 7}, Host: "b", Ended: at(60), Outcomes: []Result{result(entry("b", "x", 1), book.Stored)}})
		f.noLease(request(at(59)))
		if l := f.lease(request(at(60))); l.Host != "b" {
			t.Errorf("leased %s, want b, whose batch is settled", l.Host)
		}
		f.noLease(request(at(99)))
		if l := f.lease(request(at(100))); l.Host != "a" {
			t.Errorf("leased %s, want a", l.Host)
		}
		f.noLease(request(at(299)))
		resting, err := f.Resting(t.Context(), at(150))
		if diff := cmp.Diff([]Resting{{"c", at(300), 5}}, resting); err != nil || diff != "" {
			t.Errorf("resting, %v (-want +got):\n%s", err, diff)
		}
		if l := f.lease(request(at(300))); l.Host != "c" || l.Failures != 5 {
			t.Errorf("leased %s with %d failures, want c with 5", l.Host, l.Failures)
		}
	})
}

// PaceOf returns Unknown for an empty Redis, Told after Tell, and Kept after a call of Lease.
func TestPaceOf(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.must(f.rdb.FlushAll(t.Context()).Err())
		want := func(when string, want Pace) {
			t.Helper()
			if got, err := PaceOf(t.Context(), f.rdb); err != nil || got != want {
				t.Errorf("%s: %v, %v, want %v", when, got, err, want)
			}
		}
		want("when it is empty", Unknown)
		out := Held{Version: layout.Version{Epoch: 1, Token: 900}, Host: "a", Deadline: at(30)}
		f.must(Tell(t.Context(), f.rdb, map[int][]Held{f.partition: {out}}))
		want("when it was told", Told)
		f.must(f.Open(t.Context(), 2, "", nil))
		f.admit(noon, entries("a", 1)...)
		f.noLease(request(at(29)))
		want("when it was asked", Kept)
		all, err := Partitions(t.Context(), f.rdb)
		if diff := cmp.Diff([]int{f.partition}, all); err != nil || diff != "" {
			t.Errorf("partitions, %v (-want +got):\n%s", err, diff)
		}
	})
}
