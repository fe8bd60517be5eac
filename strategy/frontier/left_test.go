package frontier

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// elements returns the number of elements (records of URLs) in all queues of a host.
func (f fixture) elements(host string) (n int64) {
	f.t.Helper()
	names, err := f.rdb.Keys(f.t.Context(), queueKey(f.t, f.Frontier, "*", host)).Result()
	f.must(err)
	for _, key := range names {
		n += f.rdb.LLen(f.t.Context(), key).Val()
	}
	return n
}

// TestFoundByTurns: the same URL is found a thousand times, by one or two collections, at three
// depths in turn, each with a weight of its own. In the end the URL has one valid element (record in
// a queue), and at most three outdated ones.
func TestFoundByTurns(t *testing.T) {
	variants := []Entry{entry("a", "x", 1), entry("a", "x", 9), entry("a", "x", 30)}
	variants[0].Weight, variants[1].Weight, variants[2].Weight = 20, 0, 250
	eachRedis(t, func(t *testing.T, f fixture) {
		for name, tallies := range map[string][]string{
			"one collection":   {"", "", ""},
			"two collections":  {"c:docs", "c:news", "c:docs"},
			"one, then a pair": {"", "c:news", "c:docs"},
		} {
			f.must(f.rdb.FlushAll(t.Context()).Err())
			f = opened(t, f.rdb.(*redis.Client))
			var found []Entry
			for i := range 1000 {
				variant := variants[i%len(variants)]
				variant.Tally = tallies[i%len(variants)]
				if variant.Tally != "" {
					variant.Collection = variant.Tally[2:]
				}
				found = append(found, variant)
			}
			f.admit(noon, found...)
			if n := f.elements("a"); n > 4 {
				t.Errorf("%s: %d elements of one URL, want one for each place that it came to", name, n)
			}
			lease := f.lease(request(noon))
			if len(lease.Entries) != 1 || lease.Entries[0].Weight != 250 {
				t.Errorf("%s: leased %+v, want it once, in the band of its weight", name, lease.Entries)
			}
			f.settle(settlement(lease, noon, book.Stored))
			f.noLease(request(at(1)))
			if n := f.elements("a"); n != 0 {
				t.Errorf("%s: %d elements are left, want none", name, n)
			}
		}
	})
}

// TestLeftBehind: each time a URL is found at a smaller depth, or must be requested again, it gets a
// new element (a record in a queue). Its old elements stay in the queues, outdated. It must have at
// most seventeen elements. If it gets no new element because of this limit, Counts.Missed must be set.
func TestLeftBehind(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		var found []Entry
		for depth := 1000; depth > 15; depth-- {
			found = append(found, entry("a", "nearer", uint16(depth)))
		}
		f.admit(noon, found...)
		if n := f.elements("a"); n != 17 || !f.counts().Missed {
			t.Errorf("%d elements of a URL found ever nearer, want 17, and something missed: %+v", n, f.counts())
		}
		target := entry("b", "target", 1)
		for n := range uint64(50) {
			f.must(f.Mark(t.Context(), []Known{{ID: target.ID, Place: placeOf(target), Version: token(n), State: book.Stored}}))
			f.renew(due(target, "", token(n)))
		}
		if n := f.elements("b"); n != 17 {
			t.Errorf("%d elements of a page that others decided, want 17", n)
		}
		lease := f.lease(request(noon))
		if diff := fmt.Sprint(paths(lease.Entries), lease.Entries[0].Depth); diff != "[nearer] 984" {
			t.Errorf("leased %s, want it as it was found when it had fewer", diff)
		}
		f.must(f.Built(t.Context(), ""))
	})
}
