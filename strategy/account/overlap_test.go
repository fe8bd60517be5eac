package account

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// standing holds the fields of a URL that the tests in this file compare.
type standing struct {
	State      State
	Wanted     bool
	Admitted   bool
	Collection string
	Depth      uint16
}

// TestWanted: a page is stored for the collection docs. In some cases, another collection admits it,
// too: that collection wants the whole host, or has found a link to the page, or has the page as a
// seed. Then the page must be requested again for that collection.
func TestWanted(t *testing.T) {
	const docs, other = "docs", "other"
	by := func(name string, depth uint16) book.Link {
		l := link(page, depth, 0)
		l.Collection = name
		return l
	}
	stored := func(got book.State, depth uint16, names ...string) book.Outcome {
		o := outcome(1, book.Stored, 1)
		o.State, o.Depth, o.Collections = got, depth, names
		return o
	}
	sitemap := stored(book.Skipped, 1, docs)
	sitemap.Reason = membership.Sitemap
	seed := func(url string, scope collection.Scope, depth int) func(*collection.Collection) {
		return func(c *collection.Collection) { c.Seeds = []collection.Seed{{URL: url, Scope: scope, Depth: depth}} }
	}
	const front = "http://docs.example/"
	for _, test := range []struct {
		name  string
		other func(*collection.Collection) // settings of the other collection
		facts []any
		want  standing
	}{
		{"by who has all of the host", seed(front, collection.Host, collection.Unlimited),
			[]any{by(docs, 2), stored(book.Stored, 2, docs)}, standing{Stored, true, true, other, 2}},
		{"by who has it", seed(front, collection.Host, collection.Unlimited),
			[]any{by(docs, 2), stored(book.Stored, 2, docs, other)}, standing{Stored, false, true, docs, 2}},
		{"by a prefix", seed(front+"pa/", collection.Prefix, collection.Unlimited),
			[]any{by(docs, 2), stored(book.Stored, 2, docs)}, standing{Stored, false, true, docs, 2}},
		{"by who counts links", seed(front+"x", collection.Host, 3),
			[]any{by(docs, 2), stored(book.Stored, 2, docs)}, standing{Stored, false, true, docs, 2}},
		{"by who counts links and has come there", seed(front+"x", collection.Host, 3),
			[]any{by(docs, 2), by(other, 3), stored(book.Unchanged, 2, docs)}, standing{Stored, true, true, other, 3}},
		{"by who counts links and has gone too far", seed(front+"x", collection.Host, 3),
			[]any{by(docs, 2), by(other, 4), stored(book.Stored, 2, docs)}, standing{Stored, false, true, docs, 2}},
		{"by who begins there", seed(page, collection.Host, 1),
			[]any{by(docs, 2), stored(book.Stored, 2, docs)}, standing{Stored, true, true, other, 0}},
		{"by who goes anywhere", seed(front+"x", collection.Any, collection.Unlimited),
			[]any{by(docs, 2), stored(book.Stored, 2, docs)}, standing{Stored, false, true, docs, 2}},
		{"by who goes anywhere and has come there", seed(front+"x", collection.Any, collection.Unlimited),
			[]any{by(docs, 2), by(other, 9), stored(book.Stored, 2, docs)}, standing{Stored, true, true, other, 9}},
		{"by a topic", func(c *collection.Collection) {
			seed(front, collection.Host, collection.Unlimited)(c)
			c.Topic = &collection.Topic{Words: []string{"a"}, Threshold: .5}
		}, []any{by(docs, 2), stored(book.Stored, 2, docs)}, standing{Stored, false, true, docs, 2}},
		{"by who has all, and is none of the first any more", seed(front, collection.Host, collection.Unlimited),
			[]any{by(docs, 3), stored(book.Stored, 3, docs)}, standing{Stored, true, true, other, 3}},
		{"of the second alone by now", seed(front, collection.Host, collection.Unlimited),
			[]any{by(docs, 3), stored(book.Stored, 3, docs, other)}, standing{Stored, false, true, other, 3}},
		{"of nobody by now", seed(front+"x", collection.Host, 1),
			[]any{by(docs, 3), stored(book.Stored, 3, docs, other)}, standing{Stored, false, false, docs, 3}},
		{"a sitemap", seed(front+"x", collection.Prefix, 0), []any{
			book.Link{Target: page, Kind: book.Sitemap, Depth: 1, Collection: docs}, sitemap,
		}, standing{Skipped, true, true, other, 1}},
		{"what failed", seed(front, collection.Host, collection.Unlimited),
			[]any{by(docs, 2), stored(book.Failed, 2, docs)}, standing{Failed, false, true, docs, 2}},
	} {
		bucket := memblob.New()
		publish(t, bucket, nil)
		s := publish(t, bucket, func(c *collection.Collection) {
			c.Name = other
			test.other(c)
		})
		u := fold(t, s, test.facts)[page]
		if diff := cmp.Diff(test.want, standing{u.State, u.Wanted, u.Admitted, u.Collection, u.Depth}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestWaitsForWhoHasNoLimit: if two collections admit a URL, and only one has a limit of pages, the
// URL waits on behalf of the one without a limit.
func TestWaitsForWhoHasNoLimit(t *testing.T) {
	limited := func(c *collection.Collection) { c.Pages = 1 }
	for _, test := range []struct {
		name  string
		other collection.Seed
		links []string // collections with links to the page
		want  string
	}{
		{"nobody else", collection.Seed{URL: "http://other.example/", Scope: collection.Host, Depth: 1}, []string{"docs"}, "docs"},
		{"who has come there", collection.Seed{URL: "http://docs.example/x", Scope: collection.Host, Depth: 1}, []string{"docs", "other"}, "other"},
		{"who claims it", collection.Seed{URL: "http://docs.example/", Scope: collection.Host, Depth: collection.Unlimited}, []string{"docs"}, "other"},
	} {
		bucket := memblob.New()
		publish(t, bucket, limited)
		s := publish(t, bucket, func(c *collection.Collection) { c.Name, c.Seeds = "other", []collection.Seed{test.other} })
		var all []any
		for _, name := range test.links {
			l := link(page, 1, 0)
			l.Collection = name
			all = append(all, l)
		}
		if u := fold(t, s, all)[page]; u.State != Pending || u.Collection != test.want {
			t.Errorf("%s: %s for %s, want %s", test.name, u.State, u.Collection, test.want)
		}
	}
}
