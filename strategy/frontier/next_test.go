package frontier

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// TestNext settles a batch of host a, so that the next request to a must wait for a second. Then it shuts
// the frontier until a given time, which must hold only for hosts without a time of their own, such as b.
// The URL of host b has a weight, so b is in another set of hosts in Redis than a.
func TestNext(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		expect := func(when string, want Next, wantFound bool) {
			t.Helper()
			got, found, err := f.Soonest(t.Context())
			if diff := cmp.Diff(want, got); err != nil || found != wantFound || diff != "" {
				t.Errorf("%s: found %v, %v (-want +got):\n%s", when, found, err, diff)
			}
		}
		nextOf := func(host string, want time.Time) {
			t.Helper()
			if got, err := f.NextRequest(t.Context(), host); err != nil || !got.Equal(want) {
				t.Errorf("the next request to %s is at %v, %v, want %v", host, got, err, want)
			}
		}
		expect("nothing waits", Next{}, false)
		f.admit(noon, entries("a", 2)...)
		r := request(noon)
		r.Max = 1
		lease := f.lease(r)
		f.settle(settlement(lease, at(5), book.Stored)) // with a delay of a second
		expect("a waits", Next{"a", at(6)}, true)
		nextOf("a", at(6))
		nextOf("b", time.Time{})
		strong := entry("b", "0", 1)
		strong.Weight = 200
		f.admit(at(3), strong)
		expect("b is free", Next{"b", at(3)}, true)
		f.must(f.Shut(t.Context(), at(60)))
		nextOf("a", at(6))
		nextOf("b", at(60))
	})
}

// TestLoad counts the batches and hosts of two crawl partitions: a host that is leased, hosts that wait, and
// one whose URLs have weights.
func TestLoad(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		expect := func(crawl []int, wantBatches, wantHosts int64) {
			t.Helper()
			batches, hosts, err := Load(t.Context(), f.rdb, crawl)
			if err != nil || batches != wantBatches || hosts != wantHosts {
				t.Errorf("partitions %d: %d batches and %d hosts, %v, want %d and %d", crawl, batches, hosts, err, wantBatches, wantHosts)
			}
		}
		expect([]int{3}, 0, 0)
		strong := entries("c", 2)
		for i := range strong {
			strong[i].Weight = 200
		}
		f.admit(noon, slices.Concat(entries("a", 2), entries("b", 2), strong)...)
		other := fixture{New(f.rdb, 4), t}
		f.must(other.Open(t.Context(), 1, "", nil))
		other.admit(noon, entries("d", 1)...)
		expect([]int{3}, 0, 3)
		r := request(noon)
		r.Max = 1
		f.lease(r)
		expect([]int{3}, 1, 2)
		expect([]int{3, 4}, 1, 3)
	})
}
