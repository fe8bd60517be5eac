package frontier

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// While more URLs of a host wait than Request.Waiting allows, no sitemap of the host is leased, unless
// the host has no other URLs to lease. Once fewer URLs wait, sitemaps are leased again.
func TestSitemapsWaitForRoom(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		for i := range 30 { // in front of all other URLs
			e := entry("a", fmt.Sprint("map", i), 0)
			e.Sitemap = true
			f.admit(noon, e)
		}
		for i := range 60 {
			f.admit(noon, entry("a", fmt.Sprint("page", i), uint16(i%4)))
		}
		r := request(noon)
		r.Max, r.Waiting = 10, 65
		want := func(pages, sitemaps int, crowded ...string) {
			t.Helper()
			lease := f.lease(r)
			got := [2]int{}
			for _, e := range lease.Entries {
				if e.Sitemap {
					got[1]++
				} else {
					got[0]++
				}
			}
			if got != [2]int{pages, sitemaps} {
				t.Errorf("leased %d pages and %d sitemaps, want %d and %d", got[0], got[1], pages, sitemaps)
			}
			hosts, err := f.Crowded(t.Context())
			if diff := cmp.Diff(crowded, hosts); err != nil || len(crowded)+len(hosts) > 0 && diff != "" {
				t.Errorf("crowded, %v (-want +got):\n%s", err, diff)
			}
			s := settlement(lease, r.Now, 's')
			s.Delay = 0
			f.settle(s)
		}
		want(10, 0, "a") // 90 URLs wait
		want(10, 0, "a")
		want(10, 0, "a")
		want(0, 10) // 60 URLs wait
		r.Waiting = 1
		want(10, 0, "a")
		want(10, 0, "a")
		want(10, 0, "a")
		want(0, 10, "a") // nothing else is left
		r.Waiting = 0
		want(0, 10)
	})
}

// While too many URLs wait in the whole frontier, no sitemap is leased, whatever its host, because
// sitemaps may list URLs of other hosts.
func TestSitemapsOfManyHostsWaitForRoom(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		e := entry("a", "map", 0)
		e.Sitemap = true
		f.admit(noon, e)
		for i := range WaitingFactor + 1 {
			f.admit(noon, entry(fmt.Sprint("h", i), "page", 1))
		}
		r := request(noon)
		r.Waiting = 1
		for waiting := WaitingFactor + 2; waiting > 0; waiting-- {
			lease := f.lease(r)
			if lease.Host == "a" {
				if waiting > WaitingFactor {
					t.Errorf("the sitemap is leased while %d URLs wait", waiting)
				}
				return
			}
			f.settle(settlement(lease, r.Now, 's'))
			r.Now = r.Now.Add(2 * time.Second)
		}
		t.Error("the sitemap is not read when there is room")
	})
}
