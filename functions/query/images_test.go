package query

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// lake returns two pages that show images. It also returns stored copies of two of these images, and
// an HTML page that is stored at the address of a third image.
func lake() []querytest.Page {
	heron := segment.Image{URL: "https://example.org/heron.png", Alt: "A heron", Caption: "A heron <b> hunts", Around: "Birds of the lake"}
	return []querytest.Page{
		{URL: "https://example.org/birds", MIME: "text/html", Data: "x", Title: "Birds", Body: "Of the lake.", Lang: "en", Images: []segment.Image{
			heron, {URL: "https://example.net/swan.svg", Alt: "A swan", Around: "beside a heron"}, {URL: "https://example.org/page.png", Alt: "heron, a page"},
			{URL: "https://example.net/elsewhere.png", Alt: `heron "><script>`},
		}},
		{URL: "https://example.org/again", MIME: "text/html", Data: "x", Title: "Again", Body: "Nothing new.", Lang: "en", Images: []segment.Image{{URL: heron.URL, Alt: "heron"}}},
		{URL: heron.URL, MIME: "image/png", Data: "\x89PNG", Asset: true},
		{URL: "https://example.net/swan.svg", MIME: "image/svg+xml", Data: "<svg/>", Asset: true},
		{URL: "https://example.org/page.png", MIME: "text/html", Data: "<p>page", Title: "No image", Body: "No image."},
	}
}

func answerOf(t *testing.T, h http.Handler, target string) (answer engine.Answer) {
	t.Helper()
	w := querytest.AskJSON(h, target)
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", target, w.Code, w.Body, err)
	}
	return answer
}

// picturesOf returns the images of an answer by address.
func picturesOf(answer engine.Answer) map[string]engine.Picture {
	found := make(map[string]engine.Picture)
	for _, r := range answer.Results {
		found[r.Image.URL] = *r.Image
	}
	return found
}

func TestImages(t *testing.T) {
	s := newStore(t, 3)
	s.Publish(lake()...)
	h := s.serve()
	answer := answerOf(t, h, "/search?q=heron+type:image")
	const heron, swan = "https://example.org/heron.png", "https://example.net/swan.svg"
	want := map[string]engine.Picture{
		heron:                               {URL: heron, Alt: "A heron", Caption: "A heron <b> hunts", Stored: true, Copy: "/page?url=https%3A%2F%2Fexample.org%2Fheron.png", AlsoOn: []string{"https://example.org/again"}},
		swan:                                {URL: swan, Alt: "A swan", Stored: true, Copy: "/page?url=https%3A%2F%2Fexample.net%2Fswan.svg"},
		"https://example.org/page.png":      {URL: "https://example.org/page.png", Alt: "heron, a page"},
		"https://example.net/elsewhere.png": {URL: "https://example.net/elsewhere.png", Alt: `heron "><script>`},
	}
	if diff := cmp.Diff(want, picturesOf(answer)); diff != "" || answer.Total != len(want) || !answer.TotalExact {
		t.Errorf("total %d, images (-want +got):\n%s", answer.Total, diff)
	}
	first := answer.Results[0]
	if first.Image.URL != heron || first.URL != "https://example.org/birds" || first.Title != "Birds" || first.Snippet != "A heron <b> hunts" {
		t.Errorf("first %+v", first)
	}
	for _, same := range []string{"/search?q=heron&type=image", "/search?q=heron&type=IMAGE&fold=site"} {
		if diff := cmp.Diff(answer.Results, answerOf(t, h, same).Results); diff != "" {
			t.Errorf("%s (-q +got):\n%s", same, diff)
		}
	}
	if w := querytest.AskJSON(h, "/search?q=heron&type=image&type=text/html"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "type:image alone") {
		t.Errorf("images and pages: %d %s", w.Code, w.Body)
	}
	for _, r := range answerOf(t, h, "/search?q=lake").Results {
		if r.Image != nil {
			t.Errorf("a search for pages has the image %+v", r.Image)
		}
	}
	if again := answerOf(t, h, "/search?q=heron+type:image&explain=cost"); again.Cost.Requests > 0 {
		t.Errorf("asked again, it costs %+v", again.Cost)
	}
	before := "/search?q=heron+type:image&asof=" + s.Clock.Now().Format(time.RFC3339)
	if copied := picturesOf(answerOf(t, h, before))[swan].Copy; copied != "/page?asof=2026-11-21T12%3A00%3A00Z&url=https%3A%2F%2Fexample.net%2Fswan.svg" {
		t.Errorf("the copy of a past moment is at %s", copied)
	}
}

// TestGallery checks that results show stored images from this server, and no images from other
// servers.
func TestGallery(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(lake()...)
	h := s.serve()
	w := querytest.Ask(h, "GET", "/search?q=heron+type:image")
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self' data:;") {
		t.Errorf("policy %q", policy)
	}
	page := parse(t, w.Body.String())
	var shown []string
	page.Find("img").Each(func(_ int, image *goquery.Selection) {
		source := image.AttrOr("src", "")
		shown = append(shown, image.AttrOr("alt", "")+" at "+source)
		w := querytest.Ask(h, "GET", source, "Sec-Fetch-Dest: image")
		if media := w.Header().Get("Content-Type"); w.Code != http.StatusOK || !strings.HasPrefix(media, "image/") || w.Header().Get("Content-Disposition") != "" {
			t.Errorf("%s: %d, %s", source, w.Code, media)
		}
		if !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "sandbox; default-src 'none'") {
			t.Errorf("%s has the policy of %q", source, w.Header())
		}
	})
	want := []string{"A heron at /page?url=https%3A%2F%2Fexample.org%2Fheron.png", "A swan at /page?url=https%3A%2F%2Fexample.net%2Fswan.svg"}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	if total := page.Find(".total").Text(); !strings.HasPrefix(total, "4 images in") {
		t.Errorf("total %q", total)
	}
	first := page.Find("ol.gallery li").First()
	if link := first.Find("h2 a"); link.AttrOr("href", "") != "https://example.org/heron.png" || link.Text() != "A heron" {
		t.Errorf("the first image is %s", link.Text())
	}
	if link := first.Find(".more a").First(); link.AttrOr("href", "") != "https://example.org/birds" || !strings.Contains(first.Find(".more").Text(), "on Birds and 1 more page") {
		t.Errorf("its page is %q", first.Find(".more").Text())
	}
	if page.Find("main script, b").Length() > 0 {
		t.Errorf("the page holds elements of others:\n%s", w.Body)
	}
	svg := want[1][strings.Index(want[1], "/page"):]
	if media := querytest.Ask(h, "GET", svg, "Sec-Fetch-Dest: document").Header().Get("Content-Type"); media != "text/plain" {
		t.Errorf("a vector graphic that is no image of a page is served as %s", media)
	}
	if w := querytest.Ask(h, "GET", "/search?q=absent+type:image"); !strings.Contains(w.Body.String(), "No image matches") {
		t.Errorf("nothing found: %s", w.Body)
	}
	if w := querytest.Ask(h, "GET", "/search?q=page+type:image"); strings.Contains(w.Body.String(), "<img") || strings.Contains(w.Body.String(), "gallery") {
		t.Errorf("without a stored image: %s", w.Body)
	}
}

// TestForgottenImages checks that a takedown of an image, or of every page that shows it, hides the
// image, though the segments still hold it.
func TestForgottenImages(t *testing.T) {
	s := newStore(t, 3)
	s.Publish(lake()...)
	h := s.serve()
	forget := func(entry takedown.Entry) map[string]engine.Picture {
		t.Helper()
		_, err := takedown.Forget(t.Context(), s.Bucket, entry)
		s.Check(err)
		s.Clock.Advance(time.Minute) // the cached settings are renewed after that
		return picturesOf(answerOf(t, h, "/search?q=heron+type:image"))
	}
	const heron, swan = "https://example.org/heron.png", "https://example.net/swan.svg"
	found := forget(takedown.URL(s.Address("https://example.org/again"), querytest.Noon))
	if len(found) != 4 || found[heron].AlsoOn != nil {
		t.Errorf("without one of two pages: %+v", found)
	}
	found = forget(takedown.Site("example.net", querytest.Noon))
	if len(found) != 2 || found[swan].Stored {
		t.Errorf("without a site of images: %+v", found)
	}
	found = forget(takedown.URL(s.Address(heron), querytest.Noon))
	if len(found) != 1 {
		t.Errorf("without an image: %+v", found)
	}
	if found = forget(takedown.URL(s.Address("https://example.org/birds"), querytest.Noon)); len(found) != 0 {
		t.Errorf("without all pages: %+v", found)
	}
}

// TestRedirectedImage searches an image whose address redirects to another one. The copy is stored
// under the other address. The result must show this copy, unless a takedown covers the other
// address.
func TestRedirectedImage(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(lake()...)
	const from, to = "https://example.net/elsewhere.png", "https://example.net/swan.svg"
	a := s.Address(from)
	key := s.Put(book.Book{Outcomes: []book.Outcome{{
		Version: layout.Version{Epoch: 1, Token: 9}, URL: from, Place: a.Place, State: book.Skipped, Reason: membership.Redirect, Detail: "to " + to, Time: querytest.Noon, Asset: true,
	}}}, 0)
	s.Commit(0, func(m *manifest.Manifest) error { m.Books = append(m.Books, manifest.Book{Key: key}); return nil })
	h := s.serve()
	if found := picturesOf(answerOf(t, h, "/search?q=heron+type:image"))[from]; !found.Stored || found.Copy != "/page?url="+url.QueryEscape(to) {
		t.Errorf("%+v", found)
	}
	_, err := takedown.Forget(t.Context(), s.Bucket, takedown.URL(s.Address(to), querytest.Noon))
	s.Check(err)
	s.Clock.Advance(time.Minute)
	if found := picturesOf(answerOf(t, h, "/search?q=heron+type:image"))[from]; found.URL != from || found.Stored {
		t.Errorf("when it is forgotten: %+v", found)
	}
}

// TestImagesWithoutBooks damages the books, which list stored copies. It checks that images are
// found and shown without copies. If the store fails instead, the client must get an error.
func TestImagesWithoutBooks(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(lake()...)
	key := s.Commit(0, func(*manifest.Manifest) error { return manifest.ErrUnchanged }).Books[0].Key
	down := faultblob.New(s.Bucket, func(c faultblob.Call) faultblob.Fault {
		if strings.HasPrefix(c.Key, layout.Books) {
			return faultblob.Before
		}
		return faultblob.None
	})
	if w := querytest.AskJSON(s.handler(down, io.Discard), "/search?q=heron+type:image"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a store that fails: %d %s", w.Code, w.Body)
	}
	s.Check(s.Bucket.Replace(t.Context(), key, s.flipped(key)))
	var log bytes.Buffer
	answer := answerOf(t, s.handler(s.Bucket, &log), "/search?q=heron+type:image")
	if answer.Total != 4 || !strings.Contains(log.String(), key) {
		t.Errorf("total %d, log %s", answer.Total, &log)
	}
	for address, picture := range picturesOf(answer) {
		if picture.Stored {
			t.Errorf("%s is stored", address)
		}
	}
}
