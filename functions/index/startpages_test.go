package index

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// startPageSettings returns the settings of three collections. The seeds of "host" include the root
// of a host. The seed of "docs" is in one directory of that host, and the seeds of "two" are in two
// of its directories.
func startPageSettings(t *testing.T) *settings.Settings {
	t.Helper()
	published := memblob.New()
	functionstest.Publish(t, published, 1, nil, "https://a.example/")
	var inForce *settings.Settings
	for name, seeds := range map[string][]string{
		"host": {"https://a.example/docs/15/", "https://a.example/"},
		"docs": {"https://a.example/docs/15/index.html"},
		"two":  {"https://a.example/docs/15/", "https://a.example/docs/16/", "https://b.example/wiki/"},
	} {
		c := collection.Collection{Name: name, HostConnections: 1, Agent: "testbot/1.0"}
		for _, url := range seeds {
			c.Seeds = append(c.Seeds, collection.Seed{URL: url, Scope: collection.Prefix, Depth: collection.Unlimited})
		}
		inForce = functionstest.Republish(t, published, c, nil)
	}
	return inForce
}

// titled returns a page with a title and more elements in its head.
func titled(url, title, elements string, collections ...string) webobject.Object {
	o := functionstest.Page(batch, url)
	o.MIME, o.Collections = "text/html; charset=utf-8", collections
	o.Data = fmt.Appendf(nil, "<title>%s</title>%s<p>Words of %s", title, elements, url)
	return o
}

// siteNamesOf makes documents of the pages of one package. It returns the site names that the
// documents have, by URL.
func siteNamesOf(t *testing.T, rules pageRules, pages ...webobject.Object) map[string][]string {
	t.Helper()
	bucket := memblob.New()
	pkg, _ := functionstest.Package(t, bucket, 0, pages...)
	m := maker{bucket, takedown.Set{}, rules}
	drafts, err := m.read(t.Context(), pkg.Key, nil)
	extracted := m.finish(drafts, nil)
	if err != nil || len(extracted) != len(pages) {
		t.Fatalf("%d of %d pages, %v", len(extracted), len(pages), err)
	}
	names := map[string][]string{}
	for _, p := range extracted {
		if p.SiteNames != nil {
			names[p.URL] = p.SiteNames
		}
	}
	return names
}

func TestStartPages(t *testing.T) {
	rules := pageRules{startPageSettings(t), "testbot"}
	const (
		graph = `<meta property=og:site_name content="Site of A">`
		data  = `<script type="application/ld+json">{"@type": "WebSite", "name": "Site of A"}</script>`
	)
	for _, test := range []struct {
		name string
		page webobject.Object
		want []string // names of the site; nil: no start page
	}{
		{"root", titled("https://a.example/", "Start", ""), []string{"Start"}},
		{"index.html", titled("https://a.example/index.html", "Start", "", "host"), []string{"Start"}},
		{"default.asp", titled("https://c.example/default.asp", "Start", ""), []string{"Start"}},
		{"no title", titled("https://a.example/index.html", "", ""), []string{"index.html"}},
		{"Open Graph", titled("https://a.example/", "Start", graph), []string{"Start", "Site of A"}},
		{"JSON-LD", titled("https://a.example/", "Start", data), []string{"Start", "Site of A"}},
		{"title that is the name", titled("https://a.example/", "Site of A", data), []string{"Site of A"}},
		{"noindex", titled("https://a.example/", "Start", "<meta name=robots content=noindex>"), nil},
		{"another page", titled("https://a.example/x.html", "Start", graph), nil},
		{"another parameter", titled("https://a.example/?x=1", "Start", graph), nil},
		{"directory", titled("https://a.example/docs/15/", "Docs", graph), nil},
		{"directory of its collection", titled("https://a.example/docs/15/", "Docs", graph, "docs"), []string{"Docs", "Site of A"}},
		{"its other address", titled("https://a.example/docs/15/index.html", "Docs", "", "docs"), []string{"Docs"}},
		{"with another scheme and www", titled("http://www.a.example/docs/15/", "Docs", "", "docs"), []string{"Docs"}},
		{"one of its collections", titled("https://a.example/docs/15/", "Docs", "", "docs", "host"), []string{"Docs"}},
		{"directory of another collection", titled("https://a.example/docs/15/", "Docs", "", "host"), nil},
		{"root, of a collection of a directory", titled("https://a.example/", "Start", "", "docs"), []string{"Start"}},
		{"page of the directory", titled("https://a.example/docs/15/x.html", "Docs", "", "docs"), nil},
		{"directory in it", titled("https://a.example/docs/15/x/", "Docs", "", "docs"), nil},
		{"directory above two seeds", titled("https://a.example/docs/", "Docs", "", "two"), []string{"Docs"}},
		{"directory of one of two seeds", titled("https://a.example/docs/15/", "Docs", "", "two"), nil},
		{"seed on another host", titled("https://b.example/docs/", "Docs", "", "two"), nil},
		{"unknown collection", titled("https://a.example/docs/15/", "Docs", "", "unknown"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, siteNamesOf(t, rules, test.page)[test.page.URL]); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStartPagesInAnyPackage divides pages among packages in several ways: one package for all,
// small packages, and one package for each page. It does so for two orders of the pages. Each time
// the same pages must be start pages, with the same names of sites.
func TestStartPagesInAnyPackage(t *testing.T) {
	rules := pageRules{startPageSettings(t), "testbot"}
	pages := []webobject.Object{
		titled("https://a.example/docs/15/index.html", "Manual", "", "docs"), titled("https://b.example/", "B | Home", "", "host"),
		titled("https://d.example/wiki/index.html", "Wiki", "", "host"), // all pages of this host are in a directory
	}
	for i := range 40 {
		pages = append(pages,
			titled(fmt.Sprintf("https://a.example/docs/15/%d.html", i), fmt.Sprintf("%d - Foo Docs", i), "", "docs"),
			titled(fmt.Sprintf("https://b.example/%d", i), fmt.Sprintf("B: %d", i), "", "host"),
			titled(fmt.Sprintf("https://d.example/wiki/%d", i), fmt.Sprintf("%d", i), "", "host"))
	}
	want := map[string][]string{"https://a.example/docs/15/index.html": {"Manual"}, "https://b.example/": {"B | Home"}}
	reversed := slices.Clone(pages)
	slices.Reverse(reversed)
	for _, of := range [][]webobject.Object{pages, reversed} {
		for _, size := range []int{len(pages), 17, 1} {
			got := map[string][]string{}
			for some := range slices.Chunk(of, size) {
				for url, names := range siteNamesOf(t, rules, some...) {
					got[url] = names
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("packages of %d pages: names (-want +got):\n%s", size, diff)
			}
		}
	}
}
