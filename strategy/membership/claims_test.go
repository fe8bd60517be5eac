package membership_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// overlapping returns collections of docs.example. docs goes two links deep from the front
// page; far goes three links deep on any host, and has at most nine pages; topic has the pages
// below /t/ about its topic; whole has all pages.
func overlapping(t *testing.T) *membership.Members {
	t.Helper()
	far, topic, whole := docs(), docs(), docs()
	far.Name, far.Seeds = "far", []collection.Seed{{URL: "http://docs.example/", Scope: collection.Any, Depth: 3}}
	far.DropParameters, far.Pages, far.HostPages = []string{"x"}, 9, 5
	topic.Name, topic.Topic = "topic", &collection.Topic{Words: []string{"a"}, Threshold: .5}
	topic.Seeds = []collection.Seed{{URL: "http://docs.example/t/", Scope: collection.Prefix, Depth: collection.Unlimited}}
	whole.Name = "whole"
	whole.Seeds = []collection.Seed{{URL: "http://docs.example/", Scope: collection.Host, Depth: collection.Unlimited}}
	crawl := rules.Even(rules.Crawl, 1, noon)
	crawl.Rules = append([]rules.Rule{{Refuse: true, Pattern: "*/refused"}}, crawl.Rules...)
	return members(t, crawl, docs(), far, topic, whole)
}

func TestClaiming(t *testing.T) {
	s := overlapping(t)
	for _, test := range []struct {
		url           string
		depth         uint16
		sure, topical []string
	}{
		{"http://docs.example/a", 1, []string{"whole"}, nil},
		{"http://docs.example/", 0, []string{"docs", "far", "whole"}, nil},
		{"http://docs.example/t/a", 5, []string{"whole"}, []string{"topic"}},
		{"http://other.example/", 1, nil, nil},
	} {
		sure, topical := s.Claiming(parse(t, test.url), test.depth, 0)
		if diff := cmp.Diff([][]string{test.sure, test.topical}, [][]string{sure, topical}); diff != "" {
			t.Errorf("%s at depth %d (-want +got):\n%s", test.url, test.depth, diff)
		}
	}
	for url, want := range map[string][]string{
		"http://www.docs.example/map.xml": {"docs", "far", "topic", "whole"}, "http://other.example/map.xml": nil,
	} {
		if diff := cmp.Diff(want, s.ClaimingSitemap(parse(t, url))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", url, diff)
		}
	}
}

// TestOneCollection: if there is only one collection, it claims no pages, and its stored URLs are not
// counted unless it has a limit of pages.
func TestOneCollection(t *testing.T) {
	s, page := members(t, anywhere, docs()), parse(t, "http://docs.example/")
	if sure, topical := s.Claiming(page, 0, 0); len(sure)+len(topical)+len(s.ClaimingSitemap(page)) > 0 {
		t.Errorf("claimed by %q and %q", sure, topical)
	}
	if got := s.Tallies(of("docs"), page); got != nil {
		t.Errorf("counts on %q", got)
	}
	limited := docs()
	limited.Pages = 3
	if got := members(t, anywhere, limited).Tallies(of("docs"), page); !cmp.Equal(got, []string{"c:docs"}) {
		t.Errorf("with a limit: counts on %q", got)
	}
}

func TestTallies(t *testing.T) {
	s := overlapping(t)
	got := s.Tallies(of("far", "docs", "none", "far"), parse(t, "http://docs.example/a"))
	if diff := cmp.Diff([]string{"h:far:docs.example", "c:far", "c:docs"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"docs": "c:docs", "none": ""} {
		if got := s.CollectionTally(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// of returns an outcome with these names of collections.
func of(names ...string) book.Outcome { return book.Outcome{Collections: names} }

// TestAssetTallies: a stored asset counts toward limits of assets, and not toward limits of pages.
func TestAssetTallies(t *testing.T) {
	limited := docs()
	limited.Pages, limited.HostPages, limited.PatternPages = 3, 2, 5
	s, image := members(t, anywhere, limited), parse(t, "http://docs.example/2031/12.png")
	asset := of("docs")
	asset.Asset = true
	hash := layout.IdentityOf(address.Pattern(image)).String()[:16]
	if diff := cmp.Diff([]string{"a:docs", "ah:docs:docs.example", "ap:docs:" + hash, "c:docs"}, s.Tallies(asset, image)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"h:docs:docs.example", "p:docs:" + hash, "c:docs"}, s.Tallies(of("docs"), image)); diff != "" {
		t.Error(diff)
	}
	want := []membership.Limit{
		{Tally: "a:docs", Pages: 60, Reason: "assets of pages"}, {Tally: "c:docs", Pages: 63, Reason: "assets of pages"},
		{Tally: "ah:docs:docs.example", Pages: 40, Reason: "assets of pages"}, {Tally: "h:docs:docs.example", Pages: 4, Reason: "assets of pages"},
		{Tally: "ap:docs:" + hash, Pages: 5, Reason: "pages alike"},
	}
	if diff := cmp.Diff(want, s.AssetLimits("docs", image)); diff != "" {
		t.Error(diff)
	}
	if got := s.AssetLimits("none", image); got != nil {
		t.Errorf("limits of no collection: %v", got)
	}
	bounds := s.Bounds("docs", image, true)
	if diff := cmp.Diff([]membership.Limit{want[0], want[2], want[4]}, bounds); diff != "" {
		t.Error(diff)
	}
}

// TestLacking: a page is stored, or a sitemap was read, on behalf of some collections. Lacking returns
// a further collection that claims the URL and admits it. It returns "" if there is no such collection.
func TestLacking(t *testing.T) {
	s := overlapping(t)
	stored := book.Outcome{State: book.Stored, Depth: 1}
	sitemap := book.Outcome{State: book.Skipped, Reason: membership.Sitemap}
	for _, test := range []struct {
		url  string
		last book.Outcome
		of   []string
		want string
	}{
		{"http://docs.example/a", stored, []string{"docs"}, "whole"},
		{"http://docs.example/a", stored, []string{"docs", "whole"}, ""},
		{"http://docs.example/t/a", stored, []string{"whole"}, ""}, // it is not known whether the page is on topic
		{"http://docs.example/refused", stored, []string{"docs"}, ""},
		{"http://docs.example/map.xml", sitemap, []string{"docs"}, "far"},
		{"http://docs.example/map.xml", sitemap, []string{"docs", "far", "whole"}, "topic"},
		{"http://docs.example/map.xml", sitemap, []string{"docs", "far", "topic", "whole"}, ""},
	} {
		test.last.Collections = test.of
		if got := s.Lacking(test.last, parse(t, test.url)); got != test.want {
			t.Errorf("%s of %q: %q, want %q", test.url, test.of, got, test.want)
		}
	}
}

// TestSharedLinks: a page belongs to several collections, and has one link. One of the collections
// that admit the link gets it, and each other one gets a copy. But a collection that claims the
// target (see Claims) needs no copy, because the target belongs to it even without a link.
func TestSharedLinks(t *testing.T) {
	s := overlapping(t)
	const front, page, onTopic = "http://docs.example/", "http://docs.example/page", "http://docs.example/t/"
	type row struct{ Collection, Target string }
	for _, test := range []struct {
		name   string
		source string
		of     []string // collections of the page with the link
		kind   book.Kind
		target string
		depth  uint16
		weight uint8
		want   []row
	}{
		{"of one collection", front, []string{"docs"}, book.Anchor, "http://docs.example/a?gclid=1", 1, 0, []row{{"docs", "http://docs.example/a"}}},
		{"admitted by the first", front, []string{"docs", "whole"}, book.Anchor, "http://docs.example/a", 1, 0, []row{{"docs", "http://docs.example/a"}}},
		{"refused by the first", front, []string{"docs", "whole"}, book.Anchor, "http://docs.example/a", 3, 0, []row{{"whole", "http://docs.example/a"}}},
		{"refused by all", front, []string{"docs", "whole"}, book.Anchor, "http://other.example/?gclid=1", 1, 0, []row{{"docs", "http://other.example/"}}},
		{"admitted by who needs links of its own", front, []string{"whole", "far", "docs"}, book.Anchor, "http://docs.example/a", 1, 0,
			[]row{{"docs", "http://docs.example/a"}, {"far", "http://docs.example/a"}}},
		{"rather of one without a limit", front, []string{"far", "whole"}, book.Anchor, "http://docs.example/a", 1, 0,
			[]row{{"whole", "http://docs.example/a"}, {"far", "http://docs.example/a"}}},
		{"cleaned by each", front, []string{"whole", "far"}, book.Anchor, "http://docs.example/a?x=1", 1, 0,
			[]row{{"whole", "http://docs.example/a?x=1"}, {"far", "http://docs.example/a"}}},
		{"of the second alone", front, []string{"docs", "far"}, book.Anchor, "http://other.example/?x=1", 1, 0, []row{{"far", "http://other.example/"}}},
		{"on topic", onTopic, []string{"whole", "topic"}, book.Anchor, "http://docs.example/t/a", 1, 128,
			[]row{{"topic", "http://docs.example/t/a"}}},
		{"off topic", onTopic, []string{"whole", "topic"}, book.Anchor, "http://docs.example/t/a", 1, 127, []row{{"whole", "http://docs.example/t/a"}}},
		{"an image", front, []string{"docs", "far"}, book.Asset, "http://docs.example/a", 1, 0, []row{{"docs", "http://docs.example/a"}}},
		{"a sitemap that all read", front, []string{"docs", "far"}, book.Sitemap, "http://docs.example/map.xml", 1, 0, []row{{"docs", "http://docs.example/map.xml"}}},
		{"a redirect to its page", front, []string{"docs", "far"}, book.Redirect, front + "?x=1", 1, 0, []row{{"docs", front + "?x=1"}, {"far", front + "?x=1"}}},
		{"of one that came to the page by another path", page, []string{"whole", "far"}, book.Anchor, "http://docs.example/a", 1, 0, []row{{"whole", "http://docs.example/a"}}},
	} {
		link := book.Link{Source: parse(t, test.source).ID, Target: test.target, Kind: test.kind, Depth: test.depth, Weight: test.weight, Collection: test.of[0]}
		link.Place = parse(t, test.target).Place
		other := link
		other.Source = parse(t, "http://docs.example/robots.txt").ID // a page without an outcome
		page := membership.Page{Outcome: &book.Outcome{Collections: test.of}, Address: parse(t, test.source)}
		admitted := 0
		links, err := s.Assign([]book.Link{link, other}, []membership.Page{page}, func(l *book.Link, to address.Address) {
			if admitted++; l.Target != to.URL || l.Decision != "" {
				t.Errorf("%s: %+v is admitted as %s", test.name, l, to.URL)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			if l.Decision == "" {
				admitted--
			}
		}
		if admitted != 0 {
			t.Errorf("%s: %d links are told of that are not admitted, or not told of", test.name, admitted)
		}
		var got []row
		for i, l := range links {
			if at, err := address.Parse(l.Target); err != nil || l.Place != at.Place {
				t.Errorf("%s: %+v, %v", test.name, l, err)
			}
			if i != 1 {
				got = append(got, row{l.Collection, l.Target})
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if links[1].Collection != test.of[0] {
			t.Errorf("%s: a link on no page is one of %s", test.name, links[1].Collection)
		}
	}
}

// TestLimitedClaimNothing: a collection with a limit of pages claims only its seeds. It claims no other
// pages that another collection has found, because these could be more than the limit.
func TestLimitedClaimNothing(t *testing.T) {
	for name, limit := range map[string]func(*collection.Collection){
		"pages":         func(c *collection.Collection) { c.Pages = 100 },
		"host_pages":    func(c *collection.Collection) { c.HostPages = 100 },
		"pattern_pages": func(c *collection.Collection) { c.PatternPages = 100 },
	} {
		other, whole := docs(), docs()
		other.Name, whole.Seeds[0].Depth = "other", collection.Unlimited
		limit(&whole)
		s := members(t, anywhere, other, whole)
		if got, _ := s.Claiming(parse(t, "http://docs.example/a"), 1, 0); got != nil {
			t.Errorf("%s: %q claim a page", name, got)
		}
		if got, _ := s.Claiming(parse(t, "http://docs.example/"), 0, 0); !cmp.Equal(got, []string{"docs", "other"}) {
			t.Errorf("%s: %q claim a seed", name, got)
		}
		if s.Compare("docs", "other") <= 0 || !s.IsLimited("docs") || s.IsLimited("other") {
			t.Errorf("%s: the limited one comes first", name)
		}
	}
}

// TestTake: Take counts a page toward all its limits, or toward none if one of them is reached.
func TestTake(t *testing.T) {
	counts := membership.NewCounts()
	counts.Stored["a"] = 2
	two := []membership.Limit{{Tally: "a", Pages: 4}, {Tally: "b", Pages: 1}}
	for i, want := range []bool{true, false, false} {
		if got := counts.Take(two); got != want {
			t.Errorf("page %d: %v, want %v", i, got, want)
		}
	}
	if !counts.Take(two[:1]) || counts.Take(two[:1]) || !counts.Take(nil) {
		t.Error("what is within no limits, or has none")
	}
	if diff := cmp.Diff(map[string]int64{"a": 2, "b": 1}, counts.Taken); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if full, found := counts.Full(two); found { // taken, but not stored yet
		t.Errorf("%+v is full", full)
	}
	counts.Stored["b"] = 1
	if full, _ := counts.Full(two); full != two[1] {
		t.Errorf("%+v is full, want %+v", full, two[1])
	}
}
