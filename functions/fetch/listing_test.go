package fetch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/sitemap"
)

// listed reads a sitemap with the given text, as if it came from www.docs.example, and returns its
// listing. Entries on the host wanted.test are admitted, too.
func listed(t testing.TB, text string, depth uint16, last time.Time) *listing {
	t.Helper()
	at, err := address.Parse("https://www.docs.example/sitemap.xml")
	if err != nil {
		t.Fatal(err)
	}
	l := &listing{
		address: at, outcome: book.Outcome{Depth: depth, Exponent: 3, Collections: []string{"c"}}, now: start, last: last,
		admits: func(l book.Link, a address.Address) bool {
			return l.Kind == book.Listed && l.Collection == "c" && a.Site == "wanted.test"
		},
		weigh: func(e sitemap.Entry) uint8 { return priorityWeight(e.Priority) },
	}
	l.read(strings.NewReader(text))
	return l
}

func TestListing(t *testing.T) {
	const (
		never = "0001-01-01T00:00:00Z"
		pages = `<urlset><url><loc>/new</loc><lastmod>2026-01-01T20:00:30.5Z</lastmod><priority>1</priority></url>
			<url><loc>https://docs.example/old</loc><lastmod>2025-12-31</lastmod></url>
			<url><loc>/undated</loc><priority>0.1</priority></url>
			<url><loc>/future</loc><lastmod>2999-01-01</lastmod></url>
			<url><loc>http://wanted.test/</loc></url><url><loc>http://other.test/</loc></url></urlset>`
		index = `<sitemapindex><sitemap><loc>/1.xml</loc></sitemap><sitemap><loc>/2.xml</loc><lastmod>2025-12-31</lastmod></sitemap>
			<sitemap><loc>http://other.test/3.xml</loc></sitemap></sitemapindex>`
	)
	lastLook := start.Add(-24 * time.Hour) // pages of the day before the last look are not new
	for name, c := range map[string]struct {
		text string
		last time.Time
		want []string // kind, depth, weight and time of the change of each link
		left string
	}{
		"the first look": {pages, time.Time{}, []string{
			"e 1 248 https://www.docs.example/new " + never,
			"e 1 232 https://docs.example/old " + never,
			"e 1 200 https://www.docs.example/undated " + never,
			"e 1 232 https://www.docs.example/future " + never,
			"e 1 232 http://wanted.test/ " + never,
		}, "left out: 1 of 6 addresses, of other sites"},
		"another look": {pages, lastLook.Add(24 * time.Hour), []string{
			"e 1 248 https://www.docs.example/new 2026-01-01T20:00:30Z",
			"e 1 232 https://docs.example/old " + never,
			"e 1 200 https://www.docs.example/undated " + never,
			"e 1 232 https://www.docs.example/future 2026-01-02T03:04:05Z",
			"e 1 232 http://wanted.test/ " + never,
		}, "left out: 1 of 6 addresses, of other sites"},
		"an index": {index, time.Time{}, []string{
			"m 2 0 https://www.docs.example/1.xml " + never,
			"m 2 0 https://www.docs.example/2.xml " + never,
		}, "left out: 1 of 3 addresses, of other sites"},
		"an index again": {index, start, []string{
			"m 2 0 https://www.docs.example/1.xml " + never,
			"m 2 0 https://www.docs.example/2.xml " + never,
		}, "left out: 1 of 3 addresses, of other sites"},
		"nothing": {"<urlset/>", start, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := listed(t, c.text, 1, c.last)
			var got []string
			for _, link := range l.links {
				got = append(got, fmt.Sprintf("%c %d %d %s %s", link.Kind, link.Depth, link.Weight, link.Target, link.Modified.Format(time.RFC3339Nano)))
				if link.Source != l.address.ID || link.Collection != "c" || link.Region != book.Text || link.Hops != 0 {
					t.Errorf("link %+v", link)
				}
				if a, err := address.Parse(link.Target); err != nil || a.Place != link.Place {
					t.Errorf("the place of %s is that of another", link.Target)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if l.broken != nil || l.leftOut() != c.left {
				t.Errorf("broken %v, %q; want %q", l.broken, l.leftOut(), c.left)
			}
		})
	}
}

// TestExponentOfSitemap checks the expiry class of a sitemap, which sets the time until its next
// fetch. If an entry has changed since the last fetch, the class must fall by one. If none has
// changed, and all entries have dates, it must rise by one. Otherwise it must stay.
func TestExponentOfSitemap(t *testing.T) {
	const fresh, old, undated = "<url><loc>/1</loc><lastmod>2026-01-02</lastmod></url>", "<url><loc>/2</loc><lastmod>2020-01-02</lastmod></url>", "<url><loc>/3</loc></url>"
	for text, want := range map[string]int16{"": 4, old: 4, old + old: 4, undated: 3, old + undated: 3, fresh: 2, fresh + undated + old: 2} {
		if got := listed(t, "<urlset>"+text+"</urlset>", 0, start).exponent(); got != want {
			t.Errorf("%s: exponent %d, want %d", text, got, want)
		}
		if got := listed(t, "<urlset>"+text+"</urlset>", 0, time.Time{}).exponent(); got != 3 {
			t.Errorf("first look at %s: exponent %d, want 3", text, got)
		}
	}
}

func TestTooManySitemaps(t *testing.T) {
	l := listed(t, "<sitemapindex>"+numbered("<sitemap><loc>/%d</loc></sitemap>", maxSitemaps+5)+"</sitemapindex>", 0, time.Time{})
	if len(l.links) != maxSitemaps || l.leftOut() != "left out: 5 of 1005 sitemaps" {
		t.Errorf("%d links, %s", len(l.links), l.leftOut())
	}
}

// TestPriorityWeight checks that priorities of sitemap entries lead to the right bands. The
// priority of an entry gives a weight, and a URL with this weight has the band 15 − weight/16 in
// the queue of its host (0 comes first).
func TestPriorityWeight(t *testing.T) {
	for priority, want := range map[float32]int{1: 0, .9: 0, .8: 0, .7: 1, .5: 1, .4: 2, .3: 2, .2: 3, .1: 3, 0: 4} {
		if got := 15 - int(priorityWeight(priority)/16); got != want {
			t.Errorf("priority %g: band %d, want %d", priority, got, want)
		}
	}
}

func BenchmarkListing(b *testing.B) {
	text := "<urlset>" + numbered("<url><loc>https://docs.example/%d</loc><lastmod>2026-01-02</lastmod></url>", sitemap.MaxEntries) + "</urlset>"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if l := listed(b, text, 0, time.Time{}); len(l.links) != sitemap.MaxEntries {
			b.Fatal(len(l.links))
		}
	}
}
