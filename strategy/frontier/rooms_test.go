package frontier

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/run"
)

// of sets the collection of entries, and returns them.
func of(collection string, list ...Entry) []Entry {
	for i := range list {
		list[i].Collection = collection
	}
	return list
}

// within returns a request that is made some seconds after noon. It limits how many URLs of the
// collection docs may be leased for the first time (see Request.Rooms).
func within(seconds float64, room int64) Request {
	r := request(at(seconds))
	r.Rooms = map[string]int64{"docs": room}
	return r
}

func (f fixture) expectOut(want int64) {
	f.t.Helper()
	got, err := f.Out(f.t.Context(), []string{"docs", "none"})
	f.must(err)
	if diff := cmp.Diff([]int64{want, 0}, got); diff != "" {
		f.t.Errorf("out: %s", diff)
	}
}

// TestRooms: Request.Rooms limits how many URLs of one collection are leased. It does not limit
// other collections, neither on the same host nor on other hosts. URLs that are not leased because
// of the limit keep their place in the queue.
func TestRooms(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entries("a", 4)...)
		f.admit(noon, of("news", entry("a", "news", 1), entry("a", "deep", 9))...)
		f.admit(noon, entry("b", "docs", 1))
		f.admit(at(1), of("news", entry("c", "news", 1))...)
		leases := func(r Request, want ...string) Lease {
			t.Helper()
			lease := f.lease(r)
			if diff := cmp.Diff(want, paths(lease.Entries)); diff != "" {
				t.Error(diff)
			}
			return lease
		}
		first := leases(within(1, 2), "0", "1", "news", "deep")
		f.expectOut(2)
		leases(within(1, 0), "news") // leased from the third host, because the second is put off
		f.noLease(within(1, 9))
		f.expectOut(2)
		leases(within(1.01, 1), "docs")
		f.settle(settlement(first, noon, book.Retry))
		f.expectOut(1)
		leases(within(2, 0), "news", "deep")
		_, err := f.Expire(t.Context(), at(100))
		f.must(err)
		f.expectOut(0)
		leases(within(100, 9), "docs")
		leases(within(100, 9), "news")
		leases(within(100, 9), "2", "3", "0", "1", "news", "deep")
		if diff := cmp.Diff(Counts{Leased: 8, Batches: 3}, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestHeldUpBehind: the queue of a host holds 120 URLs of the collection docs, and behind them one URL
// of the collection news. Request.Rooms allows no URL of docs. Then no URL is leased at all, because
// Lease does not look so far into the queue. After 100 URLs of docs have left the queue, the URL of
// news is leased.
func TestHeldUpBehind(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entries("a", 120)...)
		f.admit(noon, of("news", entry("a", "news", 1))...)
		f.noLease(within(0, 0))
		lease := f.lease(within(1, 100))
		lease = f.leaseAfter(lease, within(2, 0))
		if diff := cmp.Diff([]string{"news"}, paths(lease.Entries)); diff != "" {
			t.Error(diff)
		}
		if c := f.counts(); c.Waiting != 20 || c.Stored != 100 {
			t.Errorf("%+v, want the rest to wait", c)
		}
	})
}

// leaseAfter settles all URLs of a lease as stored. Then it requests a new lease, and returns that.
func (f fixture) leaseAfter(before Lease, r Request) Lease {
	f.t.Helper()
	f.settle(settlement(before, noon, book.Stored))
	return f.lease(r)
}

// TestHeldHosts: there are many hosts on which Request.Rooms allows no URL to be leased. Nevertheless
// a call of Lease must find the one host with a URL that is allowed.
func TestHeldHosts(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		var held []Entry
		for i := range 300 { // more hosts than one call looks at
			held = append(held, entry(fmt.Sprint("held", i), "", 0), entry(fmt.Sprint("held", i), "deep", 7))
		}
		f.admit(noon, held...)
		f.admit(at(1), of("news", entry("a", "", 0))...)
		if lease := f.lease(within(1, 0)); lease.Host != "a" {
			t.Errorf("leased %s, want a", lease.Host)
		}
		f.noLease(within(1, 0))
		f.noLease(within(1, -1)) // all hosts are put off
		f.noLease(within(2, -1))
		if diff := cmp.Diff(Counts{Leased: 1, Parked: 600, Batches: 1}, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestAgainIsNeitherHeldNorParked: a collection's limit of pages applies only to URLs that are
// requested for the first time, not to those that wait again.
func TestAgainIsNeitherHeldNorParked(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entry("a", "new", 0))
		f.waitAgain(book.Stored, entry("a", "stored", 1))
		f.waitAgain(book.Skipped, entry("a", "skipped", 2))
		lease := f.lease(within(0, 0))
		if diff := cmp.Diff([]string{"skipped", "stored"}, paths(lease.Entries)); diff != "" {
			t.Error(diff)
		}
		f.expectOut(0)
		f.settle(settlement(lease, noon, book.Retry))
		lease = f.lease(within(1, -1))
		if diff := cmp.Diff([]string{"skipped", "stored"}, paths(lease.Entries)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(Counts{Leased: 2, Parked: 1, Stored: 1, Skipped: 1, Batches: 1}, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestAssetsPassRooms: assets are leased even if their collection may lease no more pages, and they
// do not count toward Request.Rooms.
func TestAssetsPassRooms(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		image := entry("a", "image", 1)
		image.Asset = true
		f.admit(noon, entry("a", "page", 1), image, entry("a", "more", 1))
		lease := f.lease(within(0, 1))
		if diff := cmp.Diff([]string{"page", "image"}, paths(lease.Entries)); diff != "" {
			t.Error(diff)
		}
		if !lease.Entries[1].Asset {
			t.Error("the lease does not say that the URL is an asset")
		}
		f.expectOut(1)
		f.settle(settlement(lease, noon, book.Retry))
		f.expectOut(0)
		if diff := cmp.Diff([]string{"image"}, paths(f.lease(within(1, -1)).Entries)); diff != "" {
			t.Error(diff)
		}
		f.expectOut(0)
	})
}

// TestParked: a parked URL is pending, but in no queue. Mark and Settle can give it a final state. If
// it is admitted again instead, it waits in a queue. It then has the smaller of its old and its new
// depth, and the greater of its old and its new weight.
func TestParked(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		given := func(path string, depth uint16, weight uint8) Entry {
			e := entry("a", path, depth)
			e.Weight = weight
			return e
		}
		f.admit(noon, given("x", 3, 100), entry("a", "late", 1), entry("a", "marked", 1))
		f.settle(settlement(f.lease(request(noon)), noon, book.Retry)) // each URL was requested once
		f.noLease(within(1, -1))
		if diff := cmp.Diff(Counts{Parked: 3}, f.counts()); diff != "" {
			t.Error(diff)
		}
		if got := f.pending(); len(got) != 3 {
			t.Errorf("%d URLs are pending, want 3", len(got))
		}
		want := "is parked at depth 3 after 1 attempts: its collection has as many pages as it may"
		if got, err := f.Describe(t.Context(), addressOf(entry("a", "x", 0))); err != nil || got != want {
			t.Errorf("described as %q, %v, want %q", got, err, want)
		}
		f.noLease(request(at(2)))
		f.must(f.Mark(t.Context(), []Known{{ID: entry("a", "marked", 0).ID, Place: placeOf(entry("a", "marked", 0)), Version: token(5), State: book.Failed}}))
		f.settle(Settlement{Version: token(6), Host: "a", Ended: noon, Outcomes: []Result{result(entry("a", "late", 0), book.Skipped)}})

		if n := f.admit(noon, of("news", given("x", 9, 30))...); n != 0 {
			t.Errorf("%d added, want none", n)
		}
		expected := of("news", given("x", 3, 100))
		expected[0].Attempts = 1
		if diff := cmp.Diff(expected, f.lease(within(3, -1)).Entries); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(Counts{Leased: 1, Skipped: 1, Failed: 1, Batches: 1}, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestLacking: Admit gets entries for stored pages. Each entry names a tally, which counts the stored
// URLs of the entry's collection. Admit must return in Lacking the pages that this tally does not
// count, except those that wait for another request already.
func TestLacking(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 6)
		for i, tallies := range [][]string{nil, {"h:docs:a", "c:docs"}, {"c:news"}, {"h:docs:a", "c:docs"}, {"c:docs", "c:news"}} {
			state := book.Stored
			if i == 0 {
				state = book.Skipped
			}
			f.must(f.Mark(t.Context(), []Known{{ID: list[i].ID, Place: placeOf(list[i]), Version: token(1), State: state, Tallies: tallies}}))
		}
		f.renew(due(list[3], "", token(1)))
		for tally, want := range map[string][]int{"c:news": {1}, "c:docs": {2}, "c:none": {1, 2, 4}, "": nil} {
			var lacking []layout.Identity
			for _, i := range want {
				lacking = append(lacking, list[i].ID)
			}
			for i := range list {
				list[i].Tally = tally
			}
			got, err := f.Admit(t.Context(), noon, list)
			if diff := cmp.Diff(lacking, got.Lacking); err != nil || diff != "" {
				t.Errorf("lacking %s: %v, %s", tally, err, diff)
			}
		}
	})
}

// TestResetKeepsRooms: one URL is leased and another is parked when a rebuild begins. After the
// rebuild, Out still counts the leased URL, and the parked URL waits in a queue.
func TestResetKeepsRooms(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entries("a", 2)...)
		r := request(noon)
		r.Max = 1
		out := f.lease(r)
		f.admit(noon, entry("b", "", 0))
		f.noLease(within(0, -1))
		f.expectOut(1)
		f.must(f.Reset(t.Context()))
		f.admit(noon, entry("b", "", 0))
		f.must(f.Open(t.Context(), 2, "", nil))
		f.Frontier = New(f.rdb, 3)
		f.expectOut(1)
		f.settle(settlement(out, noon, book.NotAsked))
		f.expectOut(0)
		if diff := cmp.Diff(Counts{Waiting: 1}, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestDecided: Decided returns only URLs that are stored and do not wait again, each with the version
// of the batch that stored it or found it unchanged.
func TestDecided(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 5)
		for i, s := range []book.State{book.Stored, book.Unchanged, book.Skipped, book.Stored} {
			f.must(f.Mark(t.Context(), []Known{{ID: list[i].ID, Place: placeOf(list[i]), Version: token(uint64(i)), State: s, Tallies: []string{"c:docs"}}}))
		}
		f.renew(due(list[3], "", token(3)))
		var urls []run.URL
		for _, e := range list {
			urls = append(urls, inRuns(e))
		}
		want := map[layout.Identity]layout.Version{list[0].ID: token(0), list[1].ID: token(1)}
		got, err := f.Decided(t.Context(), urls)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v, %s", err, diff)
		}
	})
}
