package fetch

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// TestCanonical has a page, on which there is a link, wish to be known by
// another address.
func TestCanonical(t *testing.T) {
	for name, c := range map[string]struct{ head, there string }{
		"none":                    {"", ""},
		"fewer parameters":        {`<link rel=canonical href="?b=2">`, "/docs/index.html?b=2"},
		"no parameters":           {`<link rel=canonical href="index.html#x">`, "/docs/index.html"},
		"the directory":           {`<link rel=canonical href="./">`, "/docs/"},
		"relative to a base":      {`<base href=/docs/x><link rel=canonical href=".?a=1">`, "/docs/?a=1"},
		"behind a tracker":        {`<link rel=canonical href="/docs/?utm_source=feed">`, "/docs/"},
		"itself":                  {`<link rel=canonical href="">`, ""},
		"itself behind a tracker": {`<link rel=canonical href="?a=1&b=2&utm_source=feed">`, ""},
		"other parameters":        {`<link rel=canonical href="?c">`, ""},
		"another page":            {`<link rel=canonical href="/docs/a">`, ""},
		"the front page":          {`<link rel=canonical href="/">`, ""},
		"without a slash":         {`<link rel=canonical href="/docs">`, ""},
		"no address":              {`<link rel=canonical href="mailto:a">`, ""},
		"on another site":         {`<link rel=canonical href="http://a.test/docs/">`, ""},
		"excluded":                {`<link rel=canonical href="?a=1">`, ""},
		"not in a link":           {`<a rel=canonical href="/docs/">page</a>`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, respond(200, "text/html", c.head+"<p>page <a href=/next>next</a>"))
			w.publish(t, collection.Collection{
				Name: "c", Seeds: []collection.Seed{{URL: w.server.URL + "/", Scope: collection.Host, Depth: 4}}, Exclude: []string{"*html?a=1"},
			})
			b := w.batch("/docs/index.html?a=1&b=2")
			b.Targets[0].Hops, b.Targets[0].Weight = 2, 9
			got := w.run(t, b)
			if c.there == "" {
				follows := func(l book.Link) bool { return l.Target == w.server.URL+"/next" }
				if o := got.Ledger.Outcomes[0]; o.State != book.Stored || !slices.ContainsFunc(got.Ledger.Links, follows) {
					t.Errorf("%+v with links %+v", o, got.Ledger.Links)
				}
				return
			}
			here, there := parsed(t, b.Targets[0].URL), parsed(t, w.server.URL+c.there)
			want := []book.Link{{
				Source: here.ID, Target: w.server.URL + "/next", Place: parsed(t, w.server.URL+"/next").Place, Kind: book.Anchor, Region: book.Text,
				Anchor: "next", Around: "page", Depth: 5, Collection: "c",
			}, {
				Source: here.ID, Target: there.URL, Place: there.Place, Kind: book.Canonical, Region: book.Text, Rel: "canonical",
				Depth: 4, Hops: 3, Weight: 9, Collection: "c",
			}}
			slices.SortFunc(got.Ledger.Links, func(a, b book.Link) int { return int(a.Kind) - int(b.Kind) })
			if diff := cmp.Diff(want, got.Ledger.Links); diff != "" {
				t.Error(diff)
			}
			if o := got.Ledger.Outcomes[0]; o.State != book.Skipped || o.Reason != "canonical" || o.Detail != "to "+there.URL || len(got.Pages) != 0 {
				t.Errorf("%+v with %d pages", o, len(got.Pages))
			}
		})
	}
}
