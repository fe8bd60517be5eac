package membership_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// world returns collections of every kind. All begin on the host docs.example, except "shown":
//
//	all      the whole host, without /private/
//	a few    at most nine pages of the host
//	topic    the pages below /t/ that are about a topic
//	near     pages of the host, at most two links from the front page
//	web      pages of any host, at most two links from the front page
//	shown    pages of shown.example whose addresses end in .html, and assets other than .gif
func world(t *testing.T) *membership.Members {
	t.Helper()
	with := func(name string, seed collection.Seed) collection.Collection {
		c := docs()
		c.Name, c.Seeds = name, []collection.Seed{seed}
		return c
	}
	const front = "http://docs.example/"
	all := with("all", collection.Seed{URL: front, Scope: collection.Host, Depth: collection.Unlimited})
	all.Exclude = []string{"*/private/*"}
	few := with("a few", all.Seeds[0])
	few.Pages = 9
	topic := with("topic", collection.Seed{URL: front + "t/", Scope: collection.Prefix, Depth: collection.Unlimited})
	topic.Topic = &collection.Topic{Words: []string{"a"}, Threshold: .5}
	pictured := with("shown", collection.Seed{URL: "http://shown.example/", Scope: collection.Host, Depth: 2})
	pictured.Assets, pictured.Exclude, pictured.Include = true, []string{"*.gif"}, []string{"*.html"}
	crawl := rules.Even(rules.Crawl, 1, noon)
	crawl.Rules = append([]rules.Rule{{Refuse: true, Pattern: "*/refused"}}, crawl.Rules...)
	return members(t, crawl, all, few, topic, pictured,
		with("near", collection.Seed{URL: front, Scope: collection.Host, Depth: 2}),
		with("web", collection.Seed{URL: front, Scope: collection.Any, Depth: 2}))
}

// TestTable compares the rows of the tables in doc.go with the decisions of the package.
func TestTable(t *testing.T) {
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	m := world(t)
	const front, page = "http://docs.example/", "http://docs.example/a"
	fmt.Fprintf(&got, "//\t%-40s %-22s %s\n", "a page", "by a link", "found by another")
	for _, row := range []struct {
		page string
		url  string
		by   membership.Path
	}{
		{"a seed, at depth 0", front, membership.Path{Collection: "all"}},
		{"a seed, at depth 0, under a limit", front, membership.Path{Collection: "a few"}},
		{"in an unlimited scope", page, membership.Path{Collection: "all", Kind: book.Anchor, Depth: 1000}},
		{"in an unlimited scope, under a limit", page, membership.Path{Collection: "a few", Kind: book.Anchor, Depth: 1000}},
		{"in one, with a topic, by a link on it", front + "t/a", membership.Path{Collection: "topic", Kind: book.Anchor, Depth: 1, Weight: 128}},
		{"in one, with a topic, by a link off it", front + "t/a", membership.Path{Collection: "topic", Kind: book.Anchor, Depth: 1, Weight: 127}},
		{"in a scope with a depth, near", page, membership.Path{Collection: "near", Kind: book.Anchor, Depth: 2}},
		{"in a scope with a depth, far", page, membership.Path{Collection: "near", Kind: book.Anchor, Depth: 3}},
		{"in the scope of the whole web", "http://other.example/", membership.Path{Collection: "web", Kind: book.Anchor, Depth: 2}},
		{"in no scope", "http://other.example/", membership.Path{Collection: "all", Kind: book.Anchor, Depth: 1}},
		{"excluded", front + "private/a", membership.Path{Collection: "all", Kind: book.Anchor, Depth: 1}},
		{"with parameters that are dropped", page + "?gclid=1", membership.Path{Collection: "all", Kind: book.Anchor, Depth: 1}},
		{"after eleven redirects", page, membership.Path{Collection: "all", Kind: book.Redirect, Depth: 1, Hops: 11}},
		{"forbidden by the strategy", front + "refused", membership.Path{Collection: "all", Kind: book.Anchor, Depth: 1}},
		{"a sitemap on the site of a seed", front + "map.xml", membership.Path{Collection: "near", Kind: book.Sitemap}},
		{"a sitemap elsewhere", "http://other.example/map.xml", membership.Path{Collection: "near", Kind: book.Sitemap}},
		{"a sitemap in an index in an index", front + "map.xml", membership.Path{Collection: "near", Kind: book.Sitemap, Depth: 2}},
		{"a mail address", "http://docs.example:25/jane", membership.Path{Collection: "web", Kind: book.Anchor, Depth: 1}},
		{"an asset of a page", front + "a.png", membership.Path{Collection: "near", Kind: book.Asset, Depth: 1}},
		{"an asset, wanted, in no scope", "http://other.example/a.png", membership.Path{Collection: "shown", Kind: book.Asset, Depth: 9}},
		{"an asset, wanted, excluded", "http://shown.example/a.gif", membership.Path{Collection: "shown", Kind: book.Asset, Depth: 1}},
		{"an asset, wanted, after eleven others", "http://shown.example/a.png", membership.Path{Collection: "shown", Kind: book.Asset, Depth: 1, Hops: 11}},
	} {
		at := parse(t, row.url)
		decision := m.Decide(row.by, at)
		if decision == "" {
			decision = "admitted"
		}
		sure, topical := m.Claiming(at, row.by.Depth, row.by.Hops)
		if row.by.Kind == book.Sitemap {
			sure, topical = m.ClaimingSitemap(at), nil
		}
		claims := "lacks it"
		switch name := row.by.Collection; {
		case slices.Contains(sure, name):
			claims = "has it"
		case slices.Contains(topical, name):
			claims = "has it if it is on topic"
		}
		fmt.Fprintf(&got, "//\t%-40s %-22s %s\n", row.page, decision, claims)
	}
	shown(t, source, got.String())
	got.Reset()
	fmt.Fprintf(&got, "//\t%-40s %s\n", "a collection", "rank")
	names := []string{"a few", "all", "near", "topic", "web"}
	sort := map[string]string{
		"near": "with a scope with a depth", "topic": "with a topic", "web": "of the whole web", "all": "with an unlimited scope", "a few": "with a limit",
	}
	slices.SortFunc(names, m.Compare)
	turns := []string{"first", "second", "last"}
	for i, name := range names {
		if i > 0 && name < names[i-1] { // collections of the same rank are sorted by name
			turns = turns[1:]
		}
		fmt.Fprintf(&got, "//\t%-40s %s\n", sort[name], turns[0])
	}
	shown(t, source, got.String())
}

func shown(t *testing.T, source []byte, table string) {
	t.Helper()
	if !strings.Contains(string(source), table) {
		t.Errorf("doc.go does not show this table:\n%s", table)
	}
}
