package tests

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/local/redis"
)

// Two processes crawl on one bucket and one Redis, each with seeds of its own. One of them is killed. The
// other must fetch all pages of both, soon after the kill, and few of them twice.
func TestProcessKilled(t *testing.T) {
	t.Parallel()
	const hosts, pages = 8, 250
	s := serveTrees(t, hosts, pages)
	s.answerIn(40 * time.Millisecond)
	a, b, whole := twoPlaces(t)
	victim := a.start("crawl", crawling(s.seeds("/0")[:hosts/2]...)...)
	other := b.start("crawl", crawling(s.seeds("/0")[hosts/2:]...)...)
	s.awaitVisits(hosts*pages/3, victim.ended)
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	if _, err := other.wait(); err != nil {
		t.Fatalf("%v\n%s", err, b.logTail())
	}
	whole.verify()
	if stored := whole.status().Stored; stored != hosts*pages {
		t.Errorf("%d pages are stored, want %d", stored, hosts*pages)
	}
	visits := s.forget()
	again := twice(visits)
	if again > 200 {
		t.Errorf("%d of %d pages were fetched twice, want at most 200", again, hosts*pages)
	}
	pause := longestPause(visits, killed)
	if pause > 30*time.Second { // the leases end within 15 seconds, on a busy machine a little later
		t.Errorf("a host got no request for %v after the kill", pause)
	}
	t.Logf("%d of %d pages twice, the longest pause of a host was %v", again, hosts*pages, pause)
}

// A process that is told to end while it crawls gives back what it has leased: another one goes on
// soon, and no page is fetched twice.
func TestProcessEnded(t *testing.T) {
	t.Parallel()
	const hosts, pages = 4, 200
	s := serveTrees(t, hosts, pages)
	s.answerIn(40 * time.Millisecond)
	a, b, whole := twoPlaces(t)
	first := a.start("crawl", crawling(s.seeds("/0")...)...)
	s.awaitVisits(hosts*pages/4, first.ended)
	second := b.start("up", crawling("--listen", "127.0.0.1:0")...)
	second.searchPage(t)
	s.awaitVisits(hosts*pages/4, first.ended)
	if err := first.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended := time.Now()
	<-first.ended
	t.Logf("the first process ended after %v", time.Since(ended))
	second.await(t, func() bool { return whole.status().Stored == hosts*pages })
	visits := s.forget()
	if again := twice(visits); again > 0 {
		t.Errorf("%d pages were fetched twice", again)
	}
	if pause := longestPause(visits, ended); pause > 10*time.Second { // less than a lease, which would have to end by itself
		t.Errorf("a host got no request for %v", pause)
	}
}

// serveTrees serves hosts with pages /0, /1, … each. Page i has links to the pages 4i+1 to 4i+4.
func serveTrees(t *testing.T, hosts, pages int) *site {
	t.Helper()
	return serve(t, hosts, func(i int, _ []string) http.Handler {
		h := make(host)
		for page := range pages {
			var body strings.Builder
			fmt.Fprintf(&body, "<title>Page %d of host %d</title><p>Number %d.", page, i, page)
			for child := 4*page + 1; child <= 4*page+4 && child < pages; child++ {
				fmt.Fprintf(&body, ` <a href="/%d">Page %[1]d</a>`, child)
			}
			h[fmt.Sprintf("/%d", page)] = answer{status: http.StatusOK, contentType: "text/html", body: body.String()}
		}
		return h
	})
}

// twoPlaces starts an object store and a Redis, and returns two places whose programs use both. The third
// place reads the bucket.
func twoPlaces(t *testing.T) (a, b, whole place) {
	t.Helper()
	_, store := storeOf(t)
	server, err := redis.Start(t.Context(), redis.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	at := func(more ...string) place {
		p := newPlace(t)
		p.env = []string{"AWS_ACCESS_KEY_ID=access", "AWS_SECRET_ACCESS_KEY=secret secret", "AWS_REGION=us-east-1"}
		p.where = append([]string{"--s3", store.Endpoint + "/bucketsearch"}, more...)
		return p
	}
	return at("--redis", server.URL), at("--redis", server.URL), at()
}

// longestPause returns the longest time between two consecutive visits to one host, of which the second
// came after the given moment.
func longestPause(visits []visit, at time.Time) (longest time.Duration) {
	slices.SortFunc(visits, func(a, b visit) int { return a.began.Compare(b.began) })
	last := make(map[string]time.Time)
	for _, v := range visits {
		u, err := url.Parse(v.url)
		if err != nil {
			continue
		}
		if before := last[u.Host]; !before.IsZero() && v.began.After(at) {
			longest = max(longest, v.began.Sub(before))
		}
		last[u.Host] = v.began
	}
	return longest
}
