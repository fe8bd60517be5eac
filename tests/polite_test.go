package tests

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// Between two requests to a host there is at least the delay, and no URL is requested that
// robots.txt forbids.
func TestPolite(t *testing.T) {
	t.Parallel()
	const delay, slowness = 200 * time.Millisecond, 50 * time.Millisecond
	s, _ := serveGenerated(t, 5)
	s.answerIn(slowness)
	p := newPlace(t)
	p.must("crawl", append([]string{"--allow-private", "--delay", delay.String(), "--scope", "prefix"}, s.seeds("/docs/")...)...)
	byHost := make(map[string][]visit)
	for _, v := range s.forget() {
		u, err := url.Parse(v.url)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(u.Path, "/docs/private/") {
			t.Errorf("%s was asked for, and robots.txt forbids it", v.url)
		}
		byHost[u.Host] = append(byHost[u.Host], v)
	}
	if len(byHost) != len(s.origins) {
		t.Fatalf("%d hosts were asked, want %d", len(byHost), len(s.origins))
	}
	for name, visits := range byHost {
		closest := closestOf(visits)
		if !strings.HasSuffix(visits[0].url, "/robots.txt") {
			t.Errorf("%s was asked for %s first, not for its robots.txt", name, visits[0].url)
		}
		t.Logf("%s: %d requests, at least %v apart", name, len(visits), closest.pause)
		// The delay counts from the end of an answer, and answers are slow here. A batch knows
		// its end only to the millisecond.
		if closest.pause < slowness+delay-2*time.Millisecond {
			t.Errorf("%s: only %v after the request for %s came that for %s", name, closest.pause, closest.before, closest.after)
		}
	}
}

// gap holds the time from the beginning of one request to a host to the beginning of the next, and
// the URLs of both requests.
type gap struct {
	pause         time.Duration
	before, after string
}

func gaps(visits []visit) []gap {
	var all []gap
	for i, v := range visits[1:] {
		all = append(all, gap{v.began.Sub(visits[i].began), visits[i].url, v.url})
	}
	return all
}

// Many hosts are crawled with a delay between the requests to each host. The crawl must take much less
// time than one host after another would, because a delay on one host does not make other hosts wait. No
// request may come before the delay has passed.
func TestPoliteToManyHosts(t *testing.T) {
	t.Parallel()
	const hosts, pages, delay = 40, 10, 250 * time.Millisecond
	s := serve(t, hosts, func(int, []string) http.Handler {
		h := make(host)
		var links string
		for i := 1; i < pages; i++ {
			h["/"+pageName(i)] = answer{status: http.StatusOK, contentType: "text/html", body: "<title>Page</title><p>A page."}
			links += link(pageName(i))
		}
		h["/"] = answer{status: http.StatusOK, contentType: "text/html", body: "<title>Contents</title>" + links}
		return h
	})
	p := newPlace(t)
	p.must("crawl", "--collection", p.file("hosts", s.seeds("/"), fmt.Sprintf("delay = %q\nconnections = %d", delay, hosts)))
	byHost := make(map[string][]visit)
	var all []visit
	for _, v := range s.forget() {
		u, err := url.Parse(v.url)
		if err != nil {
			t.Fatal(err)
		}
		byHost[u.Host] = append(byHost[u.Host], v)
		all = append(all, v)
	}
	for name, visits := range byHost {
		if len(visits) != pages+1 { // all pages and robots.txt
			t.Errorf("%s: %d requests, want %d", name, len(visits), pages+1)
		}
		if closest := closestOf(visits); closest.pause < delay-2*time.Millisecond {
			t.Errorf("%s: only %v after the request for %s came that for %s", name, closest.pause, closest.before, closest.after)
		}
	}
	first := slices.MinFunc(all, func(a, b visit) int { return a.began.Compare(b.began) })
	last := slices.MaxFunc(all, func(a, b visit) int { return a.ended.Compare(b.ended) })
	took, bound := last.ended.Sub(first.began), pages*delay
	t.Logf("%d hosts took %v, one alone at least %v", len(byHost), took, bound)
	if len(byHost) != hosts || took > hosts*bound/4 { // one host after another takes hosts*bound
		t.Errorf("%d of %d hosts took %v, one alone takes %v", len(byHost), hosts, took, bound)
	}
}
