package membership_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

var (
	noon     = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	anywhere = rules.Even(rules.Crawl, 1, noon)
)

// docs returns a collection of one site.
func docs() collection.Collection {
	return collection.Collection{
		Name: "docs", HostConnections: 1, Agent: "testbot/1.0",
		Seeds: []collection.Seed{{URL: "http://docs.example/", Scope: collection.Site, Depth: 2}},
	}
}

func members(t *testing.T, crawl rules.Document, collections ...collection.Collection) *membership.Members {
	t.Helper()
	slices.SortFunc(collections, func(a, b collection.Collection) int { return strings.Compare(a.Name, b.Name) })
	m := &membership.Members{Crawl: crawl, Storage: rules.Even(rules.Storage, 1, noon), Collections: collections}
	if err := m.Prepare(); err != nil {
		t.Fatal(err)
	}
	return m
}

func parse(t *testing.T, url string) address.Address {
	t.Helper()
	a, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestLimitsOfPages(t *testing.T) {
	var all []collection.Collection
	for _, c := range []struct {
		name          string
		host, pattern int64
	}{{"usual", 0, 0}, {"both", 7, 3}, {"none", 0, collection.Unlimited}} {
		d := docs()
		d.Name, d.HostPages, d.PatternPages = c.name, c.host, c.pattern
		all = append(all, d)
	}
	s := members(t, anywhere, all...)
	march, plain := parse(t, "https://docs.example/calendar/2026/03?day=7"), parse(t, "https://docs.example/about")
	alike := layout.IdentityOf("docs.example/calendar/#/#?day").String()[:16]
	for _, test := range []struct {
		collection string
		page       address.Address
		want       []membership.Limit
	}{
		{"usual", march, []membership.Limit{{Tally: "p:usual:" + alike, Pages: collection.DefaultPatternPages, Reason: "pages alike"}}},
		{"usual", parse(t, "http://docs.example/calendar/2031/12?day=30"), []membership.Limit{{Tally: "p:usual:" + alike, Pages: collection.DefaultPatternPages, Reason: "pages alike"}}},
		{"usual", plain, nil},
		{"both", march, []membership.Limit{
			{Tally: "h:both:docs.example", Pages: 7, Reason: "pages of the host"}, {Tally: "p:both:" + alike, Pages: 3, Reason: "pages alike"},
		}},
		{"both", plain, []membership.Limit{{Tally: "h:both:docs.example", Pages: 7, Reason: "pages of the host"}}},
		{"none", march, nil},
		{"shop", march, nil},
	} {
		if diff := cmp.Diff(test.want, s.Limits(test.collection, test.page)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", test.collection, test.page.URL, diff)
		}
	}
}

func TestCleanLinks(t *testing.T) {
	own := docs()
	own.Name, own.DropParameters = "own", []string{"x"}
	s := members(t, anywhere, docs(), own)
	const page = "http://docs.example/a"
	for _, test := range []struct {
		collection   string
		kind         book.Kind
		source       string
		target, want string
	}{
		{"docs", book.Anchor, page, page, page},
		{"docs", book.Anchor, page, page + "?utm_source=news&x=1", page + "?x=1"},
		{"docs", book.Anchor, page, page + ";jsessionid=8F3A2B1C9D4E5F60?gclid=7", page},
		{"own", book.Anchor, page, page + "?utm_source=news&x=1", page + "?utm_source=news"},
		{"none", book.Anchor, page, page + "?utm_source=news", page + "?utm_source=news"},
		{"docs", book.Asset, page, page + "?utm_source=news", page + "?utm_source=news"},
		{"docs", book.Redirect, "http://docs.example/to", page + "?utm_source=news", page},
		{"docs", book.Redirect, page, page + "?utm_source=news", page + "?utm_source=news"}, // otherwise the page could not be fetched
	} {
		links := []book.Link{
			{Kind: test.kind, Source: layout.IdentityOf(test.source), Target: test.target, Collection: test.collection},
			{Kind: test.kind, Source: layout.IdentityOf(test.source), Target: test.target, Collection: test.collection},
		}
		if a, err := address.Parse(test.target); err == nil {
			links[0].Place, links[1].Place = a.Place, a.Place
		}
		if all, err := s.Assign(links, nil, nil); err != nil || len(all) != len(links) {
			t.Errorf("%d links of %d, %v", len(all), len(links), err)
		}
		for _, l := range links {
			if l.Target != test.want {
				t.Errorf("%s: %c to %s: %s, want %s", test.collection, test.kind, test.target, l.Target, test.want)
			}
			if a, err := address.Parse(l.Target); err == nil && l.Place != a.Place {
				t.Errorf("%s: the place of %s is that of another", test.collection, l.Target)
			}
		}
	}
	if _, err := s.Assign([]book.Link{{Kind: book.Anchor, Target: "no address", Collection: "docs"}}, nil, nil); err == nil {
		t.Error("a target that is no address has none")
	}
}
