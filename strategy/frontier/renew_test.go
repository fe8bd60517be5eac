package frontier

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

func token(n uint64) layout.Version { return layout.Version{Epoch: 1, Token: n} }

// due returns an argument of Renew for an entry. The last outcome of its URL has this ETag and
// version.
func due(e Entry, etag string, v layout.Version) Due {
	e.Last = &batch.Look{Time: noon.UTC(), ETag: etag, Digest: 7}
	return Due{Entry: e, Version: v}
}

func (f fixture) renew(list ...Due) int {
	f.t.Helper()
	n, err := f.Renew(f.t.Context(), noon, list)
	f.must(err)
	return n
}

// TestRenew: Renew lets a URL with a final state wait again, unless this state has a higher version
// than Due.Version. The URL keeps its final state while it waits.
func TestRenew(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 8)
		earlier := func(n int) layout.Version { return layout.Version{Token: uint64(n)} } // earlier than any lease
		var renewed []Due
		for i, s := range []book.State{book.Stored, book.Unchanged, book.Skipped, book.Failed, book.Stored} {
			f.must(f.Mark(t.Context(), []Known{{ID: list[i].ID, Place: placeOf(list[i]), Version: earlier(10 + i), State: s}}))
		}
		f.admit(noon, list[5:7]...) // the last URL is unknown
		for i, e := range list {
			renewed = append(renewed, due(e, "", earlier(10+i)))
		}
		renewed[1].Version = earlier(99) // a higher version
		renewed[4].Version = earlier(13) // a lower version
		if n := f.renew(renewed...); n != 4 {
			t.Errorf("%d renewed, want 4", n)
		}
		if n := f.renew(append(renewed, renewed...)...); n != 0 {
			t.Errorf("%d renewed once more, want none", n)
		}
		want := Counts{Waiting: 6, Stored: 3, Skipped: 1, Failed: 1, Again: 4}
		if diff := cmp.Diff(want, f.counts()); diff != "" {
			t.Error(diff)
		}
		if got := f.pending(); len(got) != 2 || !got[list[5].ID] || !got[list[6].ID] {
			t.Errorf("%d URLs are pending, want those that were never had", len(got))
		}
		lease := f.lease(request(noon))
		want.Waiting, want.Leased, want.Again, want.Batches = 0, 6, 0, 1
		if diff := cmp.Diff(want, f.counts()); diff != "" {
			t.Error(diff)
		}
		f.settle(settlement(lease, noon, book.Failed)) // the page is gone
		if diff := cmp.Diff(Counts{Stored: 1, Failed: 6}, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestRenewedIsTriedAgain: Renew has let a stored URL wait again, with parts of its last final
// outcome in Entry.Last. The URL is leased, but the lease ends without a final outcome. The next
// lease must still have Entry.Last.
func TestRenewedIsTriedAgain(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		e := entry("a", "x", 1)
		f.must(f.Mark(t.Context(), []Known{{ID: e.ID, Place: placeOf(e), Version: token(1), State: book.Stored}}))
		want := due(e, "tag", token(1))
		f.renew(want)
		f.admit(noon, entry("a", "x", 0)) // a link to a stored page changes nothing
		for i, s := range []book.State{book.Retry, book.NotAsked, book.Lost, book.Retry} {
			now := at(100 * float64(i))
			lease := f.lease(request(now))
			if diff := cmp.Diff([]Entry{want.Entry}, lease.Entries); diff != "" {
				t.Errorf("lease %d: %s", i, diff)
			}
			if s == book.Lost { // the lease is never settled
				_, err := f.Expire(t.Context(), at(261))
				f.must(err)
				continue
			}
			if s == book.Retry {
				want.Attempts++
			}
			f.settle(settlement(lease, now, s))
		}
		if diff := cmp.Diff(Counts{Waiting: 1, Stored: 1, Again: 1}, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestRenewedMeanwhile: a URL with a final state waits again or is leased again. Then another batch
// settles it. If the version of this batch is lower than that of the final state, nothing changes. If
// it is higher, the URL has a new final state, and no longer waits or is leased. Its element (record
// in the queue) becomes outdated.
func TestRenewedMeanwhile(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		e := entry("a", "x", 1)
		outcome := func(v layout.Version, s book.State) Settlement {
			return Settlement{Version: v, Host: "a", Outcomes: []Result{result(e, s)}}
		}
		f.settle(outcome(token(10), book.Stored))
		f.renew(due(e, "ten", token(10)))
		for _, s := range []book.State{book.Failed, book.Retry} {
			if got := f.settle(outcome(token(9), s)); got != (Settled{}) {
				t.Errorf("%v of a lower version: %+v, want nothing", s, got)
			}
		}
		f.settle(outcome(token(20), book.Unchanged)) // while the URL waits
		f.noLease(request(noon))
		if n := f.renew(due(e, "ten", token(10))); n != 0 {
			t.Error("renewed for a version that is not the last")
		}
		f.settle(outcome(token(21), book.Stored))
		f.renew(due(e, "many", token(50))) // the element of token 20 is dropped, but no other
		f.settle(outcome(token(22), book.Skipped))
		want := due(e, "last", token(22))
		f.renew(want)
		lease := f.lease(request(noon))
		if diff := cmp.Diff([]Entry{want.Entry}, lease.Entries); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(Counts{Leased: 1, Skipped: 1, Batches: 1}, f.counts()); diff != "" {
			t.Error(diff)
		}
		f.settle(outcome(token(23), book.Stored)) // while the URL is leased
		if diff := cmp.Diff(Counts{Stored: 1, Batches: 1}, f.counts()); diff != "" {
			t.Error(diff)
		}
		f.settle(settlement(lease, noon, book.Retry)) // settled by token 1
		if diff := cmp.Diff(Counts{Stored: 1}, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestRebuildRenews: a rebuild calls Renew for the URLs that are due, before Open.
func TestRebuildRenews(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 2)
		known := []Known{
			{ID: list[0].ID, Place: placeOf(list[0]), Version: token(4), State: book.Stored, Tallies: []string{"x"}},
			{ID: list[1].ID, Place: placeOf(list[1]), Version: token(4), State: book.Stored, Tallies: []string{"x"}},
		}
		f.must(f.Mark(t.Context(), known))
		f.renew(due(list[0], "", token(4)), due(list[1], "", token(4)))
		old := f.lease(request(noon))
		f.must(f.Reset(t.Context()))
		f.must(f.Mark(t.Context(), known))
		f.renew(due(list[0], "", token(4)))
		f.must(f.Open(t.Context(), 2, "", nil))
		f.Frontier = New(f.rdb, 3)
		r := request(old.Deadline.Add(time.Millisecond)) // the lease expires
		if _, err := f.Expire(t.Context(), r.Now); err != nil {
			t.Fatal(err)
		}
		lease := f.lease(r)
		if diff := cmp.Diff([]string{"0"}, paths(lease.Entries)); diff != "" {
			t.Error(diff)
		}
		old.Version = token(3) // the books have the outcomes of the batch already
		f.settle(settlement(old, noon, book.Failed))
		if diff := cmp.Diff(Counts{Leased: 1, Stored: 2, Batches: 1}, f.counts()); diff != "" {
			t.Error(diff)
		}
		if got, err := f.Tallies(t.Context(), []string{"x"}); err != nil || got[0] != 2 {
			t.Errorf("Tallies = %v, %v, want 2", got, err)
		}
	})
}

// waitAgain gives URLs a final state, and then puts them back into the queues (Renew).
func (f fixture) waitAgain(s book.State, list ...Entry) {
	f.t.Helper()
	for _, e := range list {
		f.must(f.Mark(f.t.Context(), []Known{{ID: e.ID, Place: placeOf(e), State: s}}))
		f.renew(due(e, "", layout.Version{}))
	}
}

// TestAgainComesLast: URLs that are not stored yet are leased first, whatever their band. Stored
// pages come last.
func TestAgainComesLast(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.waitAgain(book.Stored, entry("a", "stored", 0), entry("a", "stored too", 9))
		f.waitAgain(book.Skipped, entry("a", "skipped", 1))
		f.waitAgain(book.Failed, entry("a", "failed", 7))
		f.admit(noon, entry("a", "new", 3), entry("a", "deep", 99))
		want := []string{"skipped", "new", "failed", "deep", "stored", "stored too"}
		if diff := cmp.Diff(want, paths(f.lease(request(noon)).Entries)); diff != "" {
			t.Error(diff)
		}
	})
}
