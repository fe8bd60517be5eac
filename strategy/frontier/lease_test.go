package frontier

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

func TestLeaseOrder(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon,
			entry("a", "deep", 40), entry("a", "deep too", 15), entry("a", "third", 3),
			entry("a", "up", 9), entry("a", "first", 0), entry("a", "second", 3))
		f.admit(noon, entry("a", "up", 2), entry("a", "third", 8))
		r := request(noon)
		r.Max = 4
		lease := f.lease(r)
		if diff := cmp.Diff([]string{"first", "up", "third", "second"}, paths(lease.Entries)); diff != "" {
			t.Error(diff)
		}
		if depth := lease.Entries[1].Depth; depth != 2 {
			t.Errorf("moved up to depth %d, want 2", depth)
		}

		// A URL that was not requested waits at the front of its band, a retry at the end.
		f.admit(noon, entry("a", "later", 3))
		s := settlement(lease, noon, book.Stored)
		s.Outcomes[2].State = book.Retry
		s.Outcomes[3].State = book.NotAsked
		if diff := cmp.Diff(Settled{Decided: 2, Waiting: 2, Ended: true}, f.settle(s)); diff != "" {
			t.Error(diff)
		}
		lease = f.lease(request(at(1)))
		if diff := cmp.Diff([]string{"second", "later", "third", "deep", "deep too"}, paths(lease.Entries)); diff != "" {
			t.Error(diff)
		}
		if a, b := lease.Entries[0].Attempts, lease.Entries[2].Attempts; a != 0 || b != 1 {
			t.Errorf("attempts %d and %d, want 0 of what was not asked and 1 of the retry", a, b)
		}
	})
}

// TestLeaseOrderByWeight: URLs of earlier bands (levels of priority) are leased first. The band of a
// URL follows from its weight or, if it has none, from its depth. A URL that is found with a greater
// weight moves up.
func TestLeaseOrderByWeight(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		given := func(path string, depth uint16, weight uint8) Entry {
			e := entry("a", path, depth)
			e.Weight = weight
			return e
		}
		f.admit(noon,
			given("weakest", 0, 1), given("strong", 9, 239), given("strongest", 9, 240), given("third", 3, 0),
			given("overtakes", 2, 16), given("stays", 2, 100), given("shallower", 8, 70))
		f.admit(noon, given("overtakes", 5, 255), given("stays", 2, 96), given("shallower", 4, 1))
		var got []string
		for _, e := range f.lease(request(noon)).Entries {
			got = append(got, fmt.Sprint(e.URL[len("http://a/"):], " ", e.Depth, " ", e.Weight))
		}
		want := []string{"strongest 9 240", "overtakes 2 255", "strong 9 239", "third 3 0", "stays 2 100", "shallower 4 70", "weakest 0 1"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMovingUpKeepsAttempts(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entry("a", "x", 5))
		f.settle(settlement(f.lease(request(noon)), noon, book.Retry))
		f.admit(noon, entry("a", "x", 1))
		lease := f.lease(request(at(1)))
		if len(lease.Entries) != 1 || lease.Entries[0].Attempts != 1 || lease.Entries[0].Depth != 1 {
			t.Errorf("leased %+v, want it once, with 1 attempt at depth 1", lease.Entries)
		}
	})
}

func TestLeaseBytes(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		long := strings.Repeat("l", 100)
		f.admit(noon, entry("a", "1", 1), entry("a", "2", 1), entry("a", long, 1), entry("a", "4", 1))
		r := request(noon)
		r.MaxBytes = 2*len("docs"+"http://a/1") + 1
		for i, want := range [][]string{{"1", "2"}, {long}, {"4"}} {
			r.Now = at(float64(i))
			lease := f.lease(r)
			if diff := cmp.Diff(want, paths(lease.Entries)); diff != "" {
				t.Error(diff)
			}
			f.settle(settlement(lease, r.Now, book.Stored))
		}
	})
}

func TestPoliteness(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		one := func(now float64) Request { r := request(at(now)); r.Max = 1; return r }
		f.admit(noon, entries("a", 9)...)
		first := f.lease(one(0))
		f.noLease(one(0))
		if c := f.counts(); c.Batches != 1 || c.Leased != 1 {
			t.Errorf("%+v, want one batch out", c)
		}
		f.admit(noon, entries("a", 12)[9:]...)
		f.noLease(one(0))

		s := settlement(first, at(5), book.Stored)
		f.settle(s)
		f.noLease(one(5.9))
		early := one(4)
		early.Horizon = 2 * time.Second
		second := f.lease(early)
		if !second.NotBefore.Equal(at(6)) {
			t.Errorf("not before %v, want %v", second.NotBefore, at(6))
		}

		// A first batch settled again does not end the second's lease.
		if got := f.settle(s); got != (Settled{}) {
			t.Errorf("settled again: %+v, want nothing", got)
		}
		f.noLease(one(30))

		// The time of the next request never becomes earlier; Rest makes it later.
		s = settlement(second, at(2), book.Stored)
		f.settle(s)
		f.noLease(one(5.9))
		third := f.lease(one(6))
		s = settlement(third, at(7), book.Failed)
		s.Rest = at(100)
		f.settle(s)
		f.noLease(one(99))
		if fourth := f.lease(one(101)); !fourth.NotBefore.Equal(at(101)) {
			t.Errorf("not before %v, want now", fourth.NotBefore)
		}
	})
}

// TestFailures leases URLs of a host and settles the lease, several times. Each settlement has
// another number of failures, once 0. Each lease must report the number of the settlement before it.
// The settlement of an earlier lease that arrives again, with a wrong number, must not change this.
func TestFailures(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entry("a", "x", 1))
		var before Settlement
		var want uint16
		for i, failures := range []uint16{1, 2, 65535, 0, 1} {
			lease := f.lease(request(at(float64(i))))
			if lease.Failures != want {
				t.Errorf("lease %d: %d failures, want %d", i, lease.Failures, want)
			}
			if i > 0 {
				before.Failures = 9
				f.settle(before)
			}
			before, want = settlement(lease, at(float64(i-1)), book.Retry), failures
			before.Failures = failures
			f.settle(before)
		}
		f.admit(noon, entry("b", "x", 1))
		f.settle(settlement(f.lease(request(noon)), noon, book.Stored))
		kept, err := f.rdb.HGetAll(t.Context(), f.key("failures")).Result()
		f.must(err)
		if diff := cmp.Diff(map[string]string{"a": "1"}, kept); diff != "" {
			t.Errorf("kept of hosts that fail and do not: %s", diff)
		}
	})
}

// TestLateRest: a settlement after the end of its lease can prolong the time for which the host
// gets no request, but never shorten it.
func TestLateRest(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entries("a", 9)...)
		r := request(noon)
		r.Max = 1
		late := settlement(f.lease(r), at(1), book.Retry)
		late.Rest, late.Failures = at(500), 3
		_, err := f.Expire(t.Context(), at(61))
		f.must(err)
		f.settle(late)
		r.Now = at(499)
		f.noLease(r)
		sooner := late
		sooner.Rest, sooner.Failures = at(400), 9
		f.settle(sooner)
		f.noLease(r)
		r.Now, r.Deadline = at(500), at(560)
		lease := f.lease(r)
		if lease.Failures != 3 {
			t.Errorf("%d failures, want those of the late one, 3", lease.Failures)
		}
		f.settle(settlement(lease, at(500), book.Stored))
		f.settle(late) // the settlement is repeated
		r.Now = at(501)
		if n := f.lease(r).Failures; n != 0 {
			t.Errorf("%d failures, want none, as of the last that was settled", n)
		}
	})
}

func TestExtend(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entries("a", 2)...)
		lease := f.lease(request(noon))
		extend := func(deadline float64, want bool) {
			t.Helper()
			if out, err := f.Extend(t.Context(), lease.Version, at(deadline)); err != nil || out != want {
				t.Errorf("Extend = %v, %v, want %v", out, err, want)
			}
		}
		extend(90, true)
		extend(90, true)
		for _, step := range []struct {
			now  float64
			want int
		}{{90, 0}, {90.5, 2}} {
			if n, err := f.Expire(t.Context(), at(step.now)); err != nil || n != step.want {
				t.Errorf("at %v s: %d URLs expired, %v, want %d", step.now, n, err, step.want)
			}
		}
		extend(120, false)
		if c := f.counts(); c.Batches != 0 || c.Waiting != 2 {
			t.Errorf("%+v, want no batch out", c)
		}
	})
}

func TestHostsTakeTurns(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		for i, host := range []string{"a", "b", "c"} {
			f.admit(at(float64(i)), entries(host, 10)...)
		}
		var got []string
		for i := range 6 {
			r := request(at(float64(10 + i)))
			r.Max, r.Connections = 1, 2
			got = append(got, f.lease(r).Host)
		}
		if diff := cmp.Diff([]string{"a", "b", "c", "a", "b", "c"}, got); diff != "" {
			t.Error(diff)
		}
		f.noLease(request(at(20)))
	})
}

func TestExpire(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entries("a", 3)...)
		f.admit(noon, entries("b", 2)...)
		a, b := f.lease(request(noon)), f.lease(request(at(1)))
		f.admit(noon, entries("a", 4)[3])
		expire := func(now time.Time) int {
			n, err := f.Expire(t.Context(), now)
			f.must(err)
			return n
		}
		if n := expire(at(60)); n != 0 {
			t.Errorf("%d URLs expired at the deadline, want none before it has passed", n)
		}
		if n := expire(at(60.5)); n != 3 {
			t.Errorf("%d URLs wait again, want the 3 of the first lease", n)
		}

		// The outcomes of the late batch count, but the host's lease is that of another batch.
		again := f.lease(request(at(61)))
		if diff := cmp.Diff([]string{"3", "0", "1", "2"}, paths(again.Entries)); diff != "" {
			t.Error(diff)
		}
		late := settlement(a, at(62), book.Stored)
		late.Outcomes[1].State = book.Retry
		if diff := cmp.Diff(Settled{Decided: 2}, f.settle(late)); diff != "" {
			t.Error(diff)
		}
		f.noLease(request(at(61)))
		f.settle(settlement(again, at(63), book.Failed))
		f.settle(late)
		f.settle(settlement(b, at(63), book.NotAsked))
		want := Counts{Failed: 4, Waiting: 2}
		if diff := cmp.Diff(want, f.counts()); diff != "" {
			t.Error(diff)
		}
		if n := expire(at(1000)); n != 0 {
			t.Errorf("%d URLs expired, want none, for nothing is leased", n)
		}
	})
}

// TestIsolation: one bad URL makes the fetch of each batch that contains it die, so that the batch's
// lease expires. A URL that was in two expired leases is leased alone. So all other URLs are stored in
// the end. The bad URL has no attempts then, because an expired lease does not count as one.
func TestIsolation(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		const urls, killer = 150, "30"
		f.admit(noon, entries("a", urls)...)
		var sizes []int
		deaths, attempts := 0, uint8(0)
		for minute := 0; deaths < 6; minute++ {
			now := noon.Add(2 * time.Duration(minute) * time.Minute)
			_, err := f.Expire(t.Context(), now)
			f.must(err)
			lease := f.lease(request(now))
			sizes = append(sizes, len(lease.Entries))
			if i := slices.Index(paths(lease.Entries), killer); i >= 0 {
				deaths++
				attempts = lease.Entries[i].Attempts
				continue
			}
			f.settle(settlement(lease, now, book.Stored))
		}
		want := []int{
			100, 50, // one of these leases expires, with the URL that kills the fetch
			12, 12, 12, // the third lease has the URL that kills the fetch
			12, 12, 12, 12, 12, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // URLs with two expired leases are leased alone, in the order of their leases
			1, 1, 1,
		}
		if diff := cmp.Diff(want, sizes); diff != "" {
			t.Errorf("leases (-want +got):\n%s", diff)
		}
		if attempts != 0 {
			t.Errorf("%d attempts, want none, for no outcome tells of one", attempts)
		}
		if diff := cmp.Diff(Counts{Stored: urls - 1, Leased: 1, Batches: 1}, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestLateRetry: an outcome Retry that is settled after the end of its lease counts as one attempt
// of the URL, even if the URL waits again or is in another lease.
func TestLateRetry(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entries("a", 3)...)
		first := f.lease(request(noon))
		expire := func(now time.Time) {
			t.Helper()
			_, err := f.Expire(t.Context(), now)
			f.must(err)
		}
		expire(at(61))
		late := settlement(first, at(61), book.Retry)
		late.Outcomes[2].State = book.NotAsked
		again := late
		again.Outcomes = late.Outcomes[:1]
		f.settle(again) // while the URL waits
		f.admit(noon, entry("a", "0", 0))
		second := f.lease(request(at(62)))
		attempts := func(l Lease) map[string]uint8 {
			got := map[string]uint8{}
			for i, path := range paths(l.Entries) {
				got[path] = l.Entries[i].Attempts
			}
			return got
		}
		if diff := cmp.Diff(map[string]uint8{"0": 1, "1": 0, "2": 0}, attempts(second)); diff != "" {
			t.Error(diff)
		}
		for range 2 { // while the URLs are leased
			f.settle(late)
		}
		expire(at(123))
		r := request(at(123))
		got := map[string]uint8{}
		for range 3 { // after two expired leases, each URL is leased alone
			r.Connections++
			maps.Copy(got, attempts(f.lease(r)))
		}
		if diff := cmp.Diff(map[string]uint8{"0": 1, "1": 1, "2": 0}, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(Counts{Leased: 3, Batches: 3}, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSettledAfterDeadline: if a batch ended after the deadline of its lease, the lease counts
// as expired, whether or not Expire was called before.
func TestSettledAfterDeadline(t *testing.T) {
	for name, expire := range map[string]bool{"expired before": true, "still out": false} {
		t.Run(name, func(t *testing.T) {
			eachRedis(t, func(t *testing.T, f fixture) {
				f.admit(noon, entries("a", 20)...)
				for i, want := range []int{20, 12, 8, 1} {
					r := request(at(float64(100 * i)))
					r.Deadline = r.Now.Add(time.Minute)
					lease := f.lease(r)
					if len(lease.Entries) != want {
						t.Fatalf("lease %d of %d URLs, want %d", i, len(lease.Entries), want)
					}
					if expire {
						_, err := f.Expire(t.Context(), r.Deadline.Add(time.Millisecond))
						f.must(err)
					}
					f.settle(settlement(lease, r.Deadline, book.Retry))
				}
			})
		})
	}
}

// TestRetriesShareALease: URLs are leased together with others even after many requests with the
// outcome Retry. (Only URLs whose leases have expired are leased with few others, or alone.)
func TestRetriesShareALease(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 10)
		for i, attempts := range []uint8{0, 0, 2, 0, 1, 1, 0, 9, 255, 0} {
			list[i].Attempts = attempts
		}
		f.admit(noon, list...)
		if lease := f.lease(request(noon)); len(lease.Entries) != len(list) {
			t.Errorf("leased %v, want all", paths(lease.Entries))
		}
	})
}

func TestSettleLargeAndUnknown(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 1300)
		f.admit(noon, list[:500]...)
		r := request(noon)
		r.Max = 500
		lease := f.lease(r)
		s := settlement(lease, noon, book.Retry)
		for _, e := range list[500:] { // targets of redirects, which were never admitted
			s.Outcomes = append(s.Outcomes, result(e, book.Skipped))
		}
		if diff := cmp.Diff(Settled{Decided: 800, Waiting: 500, Ended: true}, f.settle(s)); diff != "" {
			t.Error(diff)
		}
		if n := f.admit(noon, list...); n != 0 {
			t.Errorf("added %d, want none", n)
		}
		// A batch of an earlier epoch, whose lease this Redis does not know.
		f.settle(Settlement{
			Version: layout.Version{Epoch: 9, Token: 9}, Host: "a", Ended: at(1e6),
			Outcomes: []Result{result(list[0], book.Stored), result(list[1], book.Retry)},
		})
		want := Counts{Waiting: 499, Stored: 1, Skipped: 800}
		if diff := cmp.Diff(want, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestRepeatedLease: a reply of Redis is lost, so the client calls the lease script a second time.
// Both calls must return the same lease.
func TestRepeatedLease(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, entries("a", 1)...)
		f.admit(noon, entries("b", 1)...)
		call := func() (any, error) {
			v := layout.Version{Epoch: 1, Token: 77}
			return f.run(t.Context(), leaseScript, epochValue(1), v.String(), v.Token,
				noon.UnixMilli(), noon.UnixMilli(), at(60).UnixMilli(), 100, 1000, 1, 0).Result()
		}
		first, err := call()
		f.must(err)
		second, err := call()
		f.must(err)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Error(diff)
		}
		if c := f.counts(); c.Leased != 1 || c.Batches != 1 {
			t.Errorf("%+v, want one lease", c)
		}
	})
}

func TestConcurrentLeasers(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		const hosts, urls, connections = 7, 90, 2
		for h := range hosts {
			f.admit(noon, entries(fmt.Sprintf("host%d", h), urls)...)
		}
		var active [hosts]atomic.Int32
		var mu sync.Mutex
		times := map[layout.Identity]int{}
		var left atomic.Int32
		left.Store(hosts * urls)
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				for left.Load() > 0 {
					r := request(noon)
					r.Max, r.Connections = 5, connections
					lease, ok, err := f.Lease(t.Context(), r)
					if err != nil {
						t.Error(err)
						return
					}
					if !ok {
						continue
					}
					n := &active[lease.Host[len("host")]-'0']
					if now := n.Add(1); now > connections {
						t.Errorf("%d leases out on %s, want at most %d", now, lease.Host, connections)
					}
					mu.Lock()
					for _, e := range lease.Entries {
						times[e.ID]++
					}
					mu.Unlock()
					n.Add(-1)
					s := settlement(lease, noon.Add(-time.Hour), book.Stored)
					if _, err := f.Settle(t.Context(), s); err != nil {
						t.Error(err)
						return
					}
					left.Add(int32(-len(lease.Entries)))
				}
			})
		}
		group.Wait()
		for id, n := range times {
			if n != 1 {
				t.Errorf("%s was leased %d times", id, n)
			}
		}
		if diff := cmp.Diff(Counts{Stored: hosts * urls}, f.counts()); diff != "" {
			t.Error(diff)
		}
	})
}
