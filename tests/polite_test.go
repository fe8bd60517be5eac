package tests

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// No two requests come to a host closer than the delay, and none for what
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
	for host, visits := range byHost {
		slices.SortFunc(visits, func(a, b visit) int { return a.began.Compare(b.began) })
		if !strings.HasSuffix(visits[0].url, "/robots.txt") {
			t.Errorf("%s was asked for %s first, not for its robots.txt", host, visits[0].url)
		}
		closest := slices.MinFunc(gaps(visits), func(a, b gap) int { return cmp.Compare(a.pause, b.pause) })
		t.Logf("%s: %d requests, at least %v apart", host, len(visits), closest.pause)
		// The delay counts from the end of an answer, which takes its time; a
		// batch knows its end to the millisecond.
		if closest.pause < slowness+delay-2*time.Millisecond {
			t.Errorf("%s: only %v after the request for %s came that for %s", host, closest.pause, closest.before, closest.after)
		}
	}
}

// gap is the time from one request of a host to the next.
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
