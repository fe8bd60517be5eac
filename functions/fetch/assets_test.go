package fetch

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// assetSite serves a page with all that a browser loads to show it.
var assetSite = map[string]http.HandlerFunc{
	"/": respond(200, "text/html", `<!DOCTYPE html><title>T</title><link rel=stylesheet href=s.css><link rel="shortcut icon" href=i.ico>
<script src=s.js></script><style>@font-face{src:url(f.woff)}</style><img src=i.png alt=picture srcset="i.png 1x, i2.png 2x"><a href=p.html>p</a><video src=v.mp4 poster=v.jpg></video>`),
	"/s.css":       respond(200, "text/css", `@import "t.css"; a{background:url(b.gif)}`),
	"/i.png":       respond(200, "image/png", "\x89PNG\r\n\x1a\n"),
	"/f.woff":      respond(200, "application/octet-stream", "wOFF\x00\x01\x00\x00"),
	"/p.html":      respond(200, "text/html", "<p>a page"),
	"/moved":       http.RedirectHandler("/i.png", http.StatusFound).ServeHTTP,
	"/archive.zip": respond(200, "application/zip", "PK\x03\x04"),
}

func TestAssets(t *testing.T) {
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := assetSite[r.URL.Path]; h != nil {
			h(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	front := []collection.Seed{{URL: w.server.URL + "/", Scope: collection.Prefix, Depth: 4}}
	w.publish(t, collection.Collection{Name: "c", Seeds: front})
	w.publish(t, collection.Collection{Name: "whole", Seeds: front, Assets: true})
	const near, far = 4, 5 // depths, of a page and of an asset only
	for i, test := range []struct {
		path, collection string
		depth            uint16
		want             end
		isAsset          bool
	}{
		{"/", "whole", near, end{book.Stored, ""}, false},
		{"/s.css", "whole", near, end{book.Stored, ""}, true}, // a page by its depth
		{"/s.css", "whole", far, end{book.Stored, ""}, true},
		{"/s.css", "c", near, end{book.Skipped, "type"}, false},
		{"/i.png", "whole", far, end{book.Stored, ""}, true},
		{"/i.png", "c", near, end{book.Skipped, "type"}, false},
		{"/f.woff", "whole", far, end{book.Stored, ""}, true},
		{"/f.woff", "c", near, end{book.Skipped, "type"}, false},
		{"/p.html", "whole", near, end{book.Stored, ""}, false},
		{"/p.html", "whole", far, end{book.Skipped, "type"}, true}, // as it is a page, and admitted as an asset only
		{"/moved", "whole", far, end{book.Skipped, "redirect"}, true},
		{"/archive.zip", "whole", near, end{book.Skipped, "type"}, false},
		{"/archive.zip", "whole", far, end{book.Skipped, "type"}, true},
		{"/none.png", "whole", far, end{book.Failed, "http 404"}, true},
	} {
		b := w.batch(test.path)
		b.Version.Token = uint64(i)
		b.Targets[0].Depth, b.Targets[0].Collections = test.depth, []string{test.collection}
		b.Deadline = w.clock.Now().Add(b.Deadline.Sub(start))
		got := w.run(t, b)
		if o := got.Ledger.Outcomes[0]; ends(got)[0] != test.want || o.Asset != test.isAsset || (o.State == book.Stored) != (len(got.Pages) == 1) {
			t.Errorf("%s for %s at depth %d: %+v and %d pages", test.path, test.collection, test.depth, o, len(got.Pages))
		}
		links := map[string]string{}
		for _, l := range got.Ledger.Links {
			if l.Kind == book.Asset {
				links[l.Target[len(w.server.URL):]] = l.Rel
				if want := test.depth + 1; (l.Depth != want || l.Hops != 0) && (l.Depth != test.depth || l.Hops != 1) || l.Collection != test.collection {
					t.Errorf("%s: link %+v", test.path, l)
				}
			}
		}
		want := map[string]map[string]string{
			"/":      {"/s.css": "stylesheet", "/i.ico": "icon shortcut", "/s.js": "script", "/f.woff": "", "/i.png": "", "/i2.png": "", "/v.jpg": ""},
			"/s.css": {"/t.css": "stylesheet", "/b.gif": ""}, "/moved": {"/i.png": ""},
		}[test.path]
		if diff := cmp.Diff(want, links, cmpopts.EquateEmpty()); diff != "" && test.collection == "whole" {
			t.Errorf("%s: assets (-want +got):\n%s", test.path, diff)
		}
	}
}

// TestPageTurnedAsset requests the URL of a stored page, and the answer is an asset: the page must
// count as gone (no longer at its URL).
func TestPageTurnedAsset(t *testing.T) {
	w := newWorld(t, assetSite["/i.png"])
	w.publish(t, collection.Collection{Name: "c", Assets: true})
	b := w.batch("/")
	b.Targets[0].Last = &batch.Look{Time: start, Digest: 7, Body: 8, Collections: []string{"c"}}
	if o := w.run(t, b).Ledger.Outcomes[0]; o.State != book.Skipped || o.Reason != "type" || o.Digest != 7 {
		t.Errorf("outcome %+v", o)
	}
}

// TestSameAsset requests a stored asset that has not changed: it must not be stored again.
func TestSameAsset(t *testing.T) {
	w := newWorld(t, assetSite["/i.png"])
	w.publish(t, collection.Collection{Name: "c", Assets: true})
	first := w.run(t, w.batch("/i.png")).Ledger.Outcomes[0]
	b := w.batch("/i.png")
	b.Version.Token++
	b.Targets[0].Last = batch.LookOf(first)
	second := w.run(t, b)
	if o := second.Ledger.Outcomes[0]; !o.Asset || o.State != book.Unchanged || len(second.Pages) > 0 || o.Exponent != first.Exponent+1 {
		t.Errorf("outcome %+v", o)
	}
}
