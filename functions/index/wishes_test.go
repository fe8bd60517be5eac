package index

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// TestWishes checks which pages can be found. The settings of the collections for which a page was
// fetched decide that. A page that they do not allow must become a document without words, and
// replace its earlier version.
func TestWishes(t *testing.T) {
	const (
		english = "<p>The house stands beside the river and there are many books in it."
		german  = "<p>Das Haus steht neben dem Fluss und darin gibt es sehr viele Bücher."
		noFox   = `<meta name="foxbot" content="noindex">`
	)
	published := memblob.New()
	var inForce *settings.Settings
	functionstest.Publish(t, published, 1, nil, "http://a.example/")
	for _, c := range []collection.Collection{{Name: "all"}, {Name: "en", Language: "en"}, {Name: "de", Language: "de"}, {Name: "fox", Agent: "FoxBot/2.0"}} {
		if c.HostConnections = 1; c.Agent == "" {
			c.Agent = "OtherBot/1.0"
		}
		c.Seeds = []collection.Seed{{URL: "http://a.example/", Scope: collection.Site, Depth: collection.Unlimited}}
		inForce = functionstest.Republish(t, published, c, nil)
	}
	for name, test := range map[string]struct {
		page, collections string
		shown             bool
	}{
		"its language":                  {english, "en", true},
		"another language":              {german, "en", false},
		"one of two wants the language": {german, "de en", true},
		"one of two wants any":          {german, "all en", true},
		"nobody wants the language":     {"<p>La maison se trouve à côté de la rivière, et il y a beaucoup de livres.", "de en", false},
		"no language is known":          {"<p>1234", "en", true},
		"no collection":                 {german, "", true},
		"unknown collection":            {german, "unknown", true},
		"agent of the collection":       {noFox + english, "fox", false},
		"agent of another":              {noFox + english, "en", true},
		"agent of one of two":           {noFox + english, "en fox", false},
		"our agent elsewhere":           {`<meta name="bucketbot" content="noindex">` + english, "fox", true},
		"our agent":                     {`<meta name="bucketbot" content="noindex">` + english, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Agent = "bucketbot/1.0"
			w.Settings = (*functionstest.Fixed)(inForce)
			before := w.fetched(1, 0)
			w.run(before.Key)
			page := webobject.Object{
				URL: "http://a.example/0", MIME: "text/html; charset=utf-8", Data: []byte(test.page), Version: layout.Version{Epoch: 1, Token: 2},
				Collections: strings.Fields(test.collections),
			}
			pkg := w.put(0, page)
			w.list(pkg)
			w.run(pkg.Key)
			if diff := cmp.Diff([]string{stands(0, 2)}, w.live()); diff != "" {
				t.Errorf("live (-want +got):\n%s", diff)
			}
			segments := w.manifest().Segments
			terms, _, err := w.segment(segments[len(segments)-1]).Prefix(t.Context(), "", 10)
			if err != nil || (len(terms) > 0) != test.shown {
				t.Errorf("%d words lead to it, %v; want some: %v", len(terms), err, test.shown)
			}
			d := w.documents(segments[len(segments)-1])[0]
			if (d.Body != "") != test.shown || !slices.Equal(d.Collections, page.Collections) && test.collections != "" {
				t.Errorf("document %+v", d)
			}
		})
	}
}

type unread struct{}

func (unread) Get(context.Context) (*settings.Settings, error) { return nil, errors.New("unread") }

// TestSettingsThatCannotBeRead checks that Run fails while the settings of collections cannot be
// read.
func TestSettingsThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	pkg := w.fetched(1, 0)
	w.Settings = unread{}
	if err := w.Run(t.Context(), pkg.Key); err == nil || w.manifest().Packages[0].Indexed {
		t.Errorf("Run: %v, and the package counts as indexed", err)
	}
}
