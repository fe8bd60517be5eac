package tests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// file writes a collection file and returns its path. The caller may give further settings, in
// TOML. The collection crawls loopback addresses. Its delay is 0 unless the further settings
// contain a delay.
func (p place) file(name string, seeds []string, more string) string {
	p.t.Helper()
	list, err := json.Marshal(seeds) // a list in JSON is also one in TOML
	if err != nil {
		p.t.Fatal(err)
	}
	content := fmt.Sprintf("name = %q\nseeds = %s\nallow = [\"127.0.0.0/8\"]\n", name, list)
	if !strings.Contains(more, "delay") {
		content += "delay = \"0s\"\n"
	}
	path := filepath.Join(p.t.TempDir(), name+".toml")
	if err := os.WriteFile(path, []byte(content+more), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// Two collections are crawled at once, each with its own User-Agent, rules in robots.txt and
// delay.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	const pages, delay = 6, 400 * time.Millisecond
	const alpha, beta = "alpha/1.0 (+https://alpha.example/)", "beta/2.0 (+https://beta.example/)"
	s := serve(t, 2, func(int, []string) http.Handler {
		h := host{"/robots.txt": {status: http.StatusOK, contentType: "text/plain",
			body: "User-agent: alpha\nDisallow: /p0.html\n\nUser-agent: beta\nDisallow: /p1.html\n"}}
		var links string
		for i := range pages {
			h["/"+pageName(i)] = answer{status: http.StatusOK, contentType: "text/html", body: fmt.Sprintf("<title>Page %d</title><p>A heron on page %[1]d.", i)}
			links += link(pageName(i))
		}
		h["/"] = answer{status: http.StatusOK, contentType: "text/html", body: "<title>Contents</title>" + links}
		return h
	})
	for _, flags := range [][]string{nil, {"--isolated"}} {
		t.Run(strings.Join(append([]string{"functions"}, flags...), " "), func(t *testing.T) {
			p := newPlace(t)
			p.must("crawl", append(flags,
				"--collection", p.file("alpha", []string{s.origins[0] + "/"}, fmt.Sprintf("agent = %q\ndelay = %q", alpha, delay)),
				"--collection", p.file("beta", []string{s.origins[1] + "/"}, fmt.Sprintf("agent = %q", beta)))...)
			p.verify()
			visits := s.forget()
			for i, c := range []struct{ name, agent, forbidden string }{{"alpha", alpha, "/p0.html"}, {"beta", beta, "/p1.html"}} {
				var own []visit
				for _, v := range visits {
					if strings.HasPrefix(v.url, s.origins[i]) {
						own = append(own, v)
					}
					if v.url == s.origins[i]+c.forbidden {
						t.Errorf("%s is asked for, and robots.txt forbids it to %s", v.url, c.name)
					}
				}
				for _, v := range own {
					if v.agent != c.agent {
						t.Errorf("%s is asked for by %q, want %q", v.url, v.agent, c.agent)
					}
				}
				closest := closestOf(own)
				if slow := closest.pause >= delay-2*time.Millisecond; slow != (c.name == "alpha") {
					t.Errorf("collection %s asks at least %v apart", c.name, closest.pause)
				}
				var want []string
				for j := range pages {
					if path := "/" + pageName(j); path != c.forbidden {
						want = append(want, s.origins[i]+path)
					}
				}
				if got := p.search("--collection", c.name, "heron"); !slices.Equal(got, want) {
					t.Errorf("collection %s: found %q, want %q", c.name, got, want)
				}
				if status := p.status("--collection", c.name); status.Stored != pages || status.Skipped["robots"] != 1 || len(status.Collections) != 1 {
					t.Errorf("collection %s: status %+v", c.name, status)
				}
			}
		})
	}
}

// closestOf returns the shortest gap between two successive visits. To find it, closestOf sorts the
// slice of visits by time.
func closestOf(visits []visit) gap {
	slices.SortFunc(visits, func(a, b visit) int { return a.began.Compare(b.began) })
	return slices.MinFunc(gaps(visits), func(a, b gap) int { return cmp.Compare(a.pause, b.pause) })
}
