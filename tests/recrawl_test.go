package tests

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// A second crawl of an unchanged site downloads almost nothing, and writes only records
// (outcomes) that say so.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	s, hosts := serveGenerated(t, 20)
	p := newPlace(t)
	p.crawl(append([]string{"--scope", "prefix"}, s.seeds("/docs/")...)...)
	p.verify()
	asked := queries(hosts)
	first, before, visits := p.picture(asked), p.inventory(), s.forget()
	if out := p.must("crawl", "--allow-private", "--recrawl"); !strings.Contains(out, fmt.Sprintf("%d pages asked for again and unchanged", len(first.Pages))) {
		t.Errorf("the second crawl does not say that all %d pages are unchanged:\n%s", len(first.Pages), out)
	}
	p.verify()
	mustEqual(t, "the second crawl", first, p.picture(asked))
	mustAddOutcomes(t, before, p.inventory())

	again := make(map[string]int)
	second := s.forget()
	for _, v := range second {
		again[v.url]++
		if a := answerTo(s, hosts, v.url); a.etag+a.modified != "" && v.isPage() && v.status != http.StatusNotModified {
			t.Errorf("%s has validators and is answered with %d and %d bytes", v.url, v.status, v.bytes)
		}
	}
	for url := range first.Pages {
		if again[url] != 1 {
			t.Errorf("%s is asked for %d times by the second crawl", url, again[url])
		}
	}
	t.Logf("%d requests and %d bytes, then %d and %d", len(visits), bytesOf(visits), len(second), bytesOf(second))
	if 2*bytesOf(second) > bytesOf(visits) {
		t.Errorf("%d bytes are downloaded again, of %d", bytesOf(second), bytesOf(visits))
	}
}

// answerTo returns the answer of the generated hosts to a request for an address; the zero
// answer if there is none.
func answerTo(s *site, hosts []host, url string) answer {
	for i, origin := range s.origins {
		if path, hits := strings.CutPrefix(url, origin); hits {
			return hosts[i][path]
		}
	}
	return answer{}
}

func bytesOf(visits []visit) int {
	n := 0
	for _, v := range visits {
		n += v.bytes
	}
	return n
}

// inventory holds what the manifests of a bucket list: the keys of packages and segments, and the
// books by their keys.
type inventory struct {
	packages, segments []string
	books              map[string]book.Book
}

func (p place) inventory() inventory {
	p.t.Helper()
	all := inventory{books: make(map[string]book.Book)}
	p.attach(func(ctx context.Context, a *system.Attached) {
		inForce, err := a.Settings.Get(ctx)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, partition := range inForce.Partitions() {
			m, err := manifest.Read(ctx, a.Bucket, partition)
			if err != nil {
				p.t.Fatal(err)
			}
			for _, listed := range m.Packages {
				all.packages = append(all.packages, listed.Key)
			}
			for _, listed := range m.Segments {
				all.segments = append(all.segments, listed.Key)
			}
			for _, listed := range m.Books {
				content, err := a.Bucket.Get(ctx, listed.Key, blob.Range{})
				if err != nil {
					p.t.Fatal(err)
				}
				if all.books[listed.Key], err = book.Decode(content); err != nil {
					p.t.Fatal(err)
				}
			}
		}
	})
	return all
}

// mustAddOutcomes checks that a second crawl has written only two things: outcomes that say that
// pages are unchanged, and the links from robots.txt to sitemaps. These links are recorded again
// whenever robots.txt is read.
func mustAddOutcomes(t testing.TB, before, after inventory) {
	t.Helper()
	if diff := cmp.Diff(before.packages, after.packages); diff != "" {
		t.Errorf("packages (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before.segments, after.segments); diff != "" {
		t.Errorf("segments (-before +after):\n%s", diff)
	}
	unchanged := 0
	for key, b := range after.books {
		if _, old := before.books[key]; old {
			continue
		}
		for _, o := range b.Outcomes {
			switch o.State {
			case book.Stored:
				t.Errorf("%s is stored again", o.URL)
			case book.Unchanged:
				unchanged++
			}
		}
		for _, l := range b.Links {
			if l.Kind != book.Sitemap {
				t.Errorf("a link of kind %s to %s is written again", l.Kind, l.Target)
			}
		}
	}
	if unchanged == 0 {
		t.Error("no outcome says that a page has not changed")
	}
}

// Between two crawls a page has changed, has moved, has vanished or has come back. The later crawl
// must notice this. A page that has vanished stays stored until a second crawl does not find it
// either.
func TestSiteChanges(t *testing.T) {
	t.Parallel()
	page := func(title, text string) answer {
		return answer{status: http.StatusOK, contentType: "text/html", body: "<title>" + title + "</title><h1>" + title + "</h1><p>" + text}.validated()
	}
	gone := answer{status: http.StatusNotFound, contentType: "text/html", body: "Not here."}
	h := host{
		"/":            page("Contents", link("news.html")+link("leaves.html")+link("moves.html")+link("stays.html")),
		"/news.html":   page("News", "A heron nests in the reeds."),
		"/leaves.html": page("Leaving", "A walrus rests on the ice."),
		"/moves.html":  page("Moving", "An albatross crosses the sea."),
		"/stays.html":  page("Staying", "A tortoise sleeps under the stone."),
	}
	s := serve(t, 1, func(int, []string) http.Handler { return h })
	p := newPlace(t)
	for i, step := range []struct {
		changes host
		args    []string
		finds   map[string]string // word → the only page with it, "" for none
		states  map[string]string // path → state of the URL
	}{
		{
			nil, []string{"--allow-private", "--delay", "0", s.origins[0]},
			map[string]string{"heron": "/news.html", "kingfisher": "", "walrus": "/leaves.html", "albatross": "/moves.html", "tortoise": "/stays.html"},
			map[string]string{"/leaves.html": "stored", "/moves.html": "stored"},
		},
		{
			host{
				"/news.html": page("News", "A kingfisher dives for sticklebacks in the brook."), "/leaves.html": gone,
				"/moves.html": {status: http.StatusMovedPermanently, location: "/moved.html"},
				"/moved.html": page("Moved", "An albatross crosses the sea."),
			}, []string{"--allow-private", "--recrawl"},
			map[string]string{"heron": "", "kingfisher": "/news.html", "walrus": "/leaves.html", "albatross": "/moved.html", "tortoise": "/stays.html"},
			map[string]string{"/leaves.html": "stored", "/moves.html": "skipped: redirect", "/moved.html": "stored"},
		},
		{
			nil, []string{"--allow-private", "--recrawl"},
			map[string]string{"kingfisher": "/news.html", "walrus": "", "albatross": "/moved.html", "tortoise": "/stays.html"},
			map[string]string{"/leaves.html": "failed: http 404"},
		},
		{
			host{"/leaves.html": page("Returning", "A walrus is back on the ice.")}, []string{"--allow-private", "--recrawl"},
			map[string]string{"walrus": "/leaves.html", "tortoise": "/stays.html"},
			map[string]string{"/leaves.html": "stored"},
		},
	} {
		s.change(func() {
			for path, a := range step.changes {
				h[path] = a
			}
		})
		p.must("crawl", step.args...)
		p.verify()
		seen := p.picture(slices.Collect(maps.Keys(step.finds)))
		for word, path := range step.finds {
			var want, got []string
			if path != "" {
				want = []string{s.origins[0] + path}
			}
			for _, result := range seen.Answers[word].Results {
				got = append(got, result.URL)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("crawl %d: %s (-want +found):\n%s", i+1, word, diff)
			}
		}
		for path, want := range step.states {
			if got := seen.States[s.origins[0]+path]; got != want {
				t.Errorf("crawl %d: %s is %q, want %q", i+1, path, got, want)
			}
		}
	}
}

// search runs the command search, and returns the addresses of the pages that it finds.
func (p place) search(args ...string) []string {
	p.t.Helper()
	var urls []string
	for _, hits := range decode[engine.Answer](p.t, p.must("search", append([]string{"--json", "-n", "100"}, args...)...)).Results {
		urls = append(urls, hits.URL)
	}
	slices.Sort(urls)
	return urls
}
