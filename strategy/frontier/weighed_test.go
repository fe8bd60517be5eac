package frontier

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

func weighed(host string, n int, weight uint8) []Entry {
	list := entries(host, n)
	for i := range list {
		list[i].Weight = weight
	}
	return list
}

// short returns a request that is made some seconds after noon. A lease with URLs of the collection
// docs must then have at most ten URLs (see Request.Short).
func short(seconds float64) Request {
	r := request(at(seconds))
	r.Short = map[string]int{"docs": 10}
	return r
}

// asked leases URLs and settles the leases, one after another, until no URL waits. It returns the
// weights of the leased URLs, and the host of each lease.
func (f fixture) asked(r Request) (weights []uint8, hosts []string) {
	f.t.Helper()
	for {
		lease, ok, err := f.Lease(f.t.Context(), r)
		f.must(err)
		if !ok {
			return weights, hosts
		}
		hosts = append(hosts, lease.Host)
		for _, e := range lease.Entries {
			weights = append(weights, e.Weight)
		}
		s := settlement(lease, r.Now, book.Stored)
		s.Delay = 0
		f.settle(s)
		r.Now = r.Now.Add(time.Second)
	}
}

// TestWeightOrdersHosts: all URLs with high weights of one host are leased before those with
// low weights of another host, although the other host has been free for longer.
func TestWeightOrdersHosts(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, weighed("weak", 60, 40)...)
		f.admit(at(1), weighed("strong", 60, 240)...)
		weights, hosts := f.asked(short(2))
		for i, weight := range weights {
			if want := uint8(240); i >= 60 && weight != 40 || i < 60 && weight != want {
				t.Fatalf("link %d has weight %d: %v", i, weight, weights)
			}
		}
		if len(hosts) != 12 {
			t.Errorf("%d leases, want 12 of ten each: %v", len(hosts), hosts)
		}
		if diff := cmp.Diff(Counts{Stored: 120}, f.counts()); diff != "" {
			t.Error(diff)
		}
		f.must(f.Built(t.Context(), ""))
	})
}

// TestStrongLinkOvertakes: a URL that is found with a high weight is leased next. This must hold for a
// new host, for a host with only low weights so far, and, once its lease is settled, for a host that is
// leased at the moment.
func TestStrongLinkOvertakes(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, weighed("a", 100, 60)...)
		f.admit(noon, weighed("b", 100, 60)...)
		now := 0.0
		next := func(strong Entry, lease *Lease) {
			t.Helper()
			if strong.Weight = 250; true {
				f.admit(at(now), strong)
			}
			if lease != nil { // the batch has found the link
				s := settlement(*lease, at(now), book.Stored)
				s.Delay = 0
				f.settle(s)
			}
			now++
			got := f.lease(short(now))
			if got.Host != strong.Host || got.Entries[0].Weight != 250 || len(got.Entries) > 10 {
				t.Errorf("leased %d of %s, the first of weight %d; want the strong one of %s", len(got.Entries), got.Host, got.Entries[0].Weight, strong.Host)
			}
			s := settlement(got, at(now), book.Stored)
			s.Delay = 0
			f.settle(s)
			f.must(f.Built(t.Context(), ""))
		}
		for i, host := range []string{"b", "a", "b", "new", "a"} {
			next(entry(host, fmt.Sprint("strong", i), 3), nil)
		}
		lease := f.lease(short(now))
		next(entry(lease.Host, "strong of its own", 3), &lease)

		// While its host rests, other hosts are leased, and then this one.
		lease = f.lease(short(now))
		strong := entry(lease.Host, "rests", 3)
		strong.Weight = 250
		f.admit(at(now), strong)
		s := settlement(lease, at(now), book.Stored)
		s.Delay = 5 * time.Second
		f.settle(s)
		other := f.lease(short(now + 1))
		if other.Host == lease.Host {
			t.Errorf("%s was leased while it rests", lease.Host)
		}
		f.settle(settlement(other, at(now+1), book.Stored))
		if got := f.lease(short(now + 5)); got.Entries[0].URL != strong.URL {
			t.Errorf("leased %s, want the strong one once its host has rested", got.Entries[0].URL)
		}
	})
}

// TestWeighedAndPlainTakeTurns: leases alternate between hosts whose URLs have weights and hosts
// whose URLs have none, however many hosts of either kind there are.
func TestWeighedAndPlainTakeTurns(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		for i := range 4 {
			f.admit(at(float64(i)), entry(fmt.Sprint("plain", i), "", 0))
			f.admit(at(float64(i)), weighed(fmt.Sprint("weighed", i), 1, uint8(20+40*i))...)
		}
		_, hosts := f.asked(short(10))
		want := []string{"weighed3", "plain0", "weighed2", "plain1", "weighed1", "plain2", "weighed0", "plain3"}
		if diff := cmp.Diff(want, hosts); diff != "" {
			t.Error(diff)
		}
	})
}

// TestLeftBehindIsNoWeight: the queues of a host have elements (records of URLs) with a high weight,
// but all of these are outdated. The host must not be leased before other hosts because of them.
func TestLeftBehindIsNoWeight(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		gone := weighed("a", 2, 250)
		f.admit(noon, gone...)
		f.admit(noon, func() Entry { e := entry("a", "weak", 2); e.Weight = 30; return e }())
		f.admit(noon, weighed("b", 1, 100)...)
		for _, e := range gone { // other batches have settled them
			f.must(f.Mark(t.Context(), []Known{{ID: e.ID, Place: placeOf(e), Version: token(1), State: book.Stored}}))
		}
		if weights, _ := f.asked(short(1)); fmt.Sprint(weights) != "[100 30]" {
			t.Errorf("asked for links of weights %v, want the stronger first", weights)
		}
	})
}

// TestShort: Request.Short limits leases for the collection docs to ten URLs. The limit must hold for
// URLs that are requested for docs for the first time. It must not hold for URLs of another collection,
// and not for stored pages.
func TestShort(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.admit(noon, of("news", entries("a", 30)...)...)
		f.admit(noon, entries("b", 30)...)
		f.waitAgain(book.Stored, entries("c", 30)...)
		got := map[string]int{}
		for i := range 3 {
			lease := f.lease(short(float64(i)))
			got[lease.Host] = len(lease.Entries)
		}
		if diff := cmp.Diff(map[string]int{"a": 30, "b": 10, "c": 30}, got); diff != "" {
			t.Error(diff)
		}
	})
}
