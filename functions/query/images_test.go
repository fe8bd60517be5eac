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
func lake() []testPage {
	heron := segment.Image{URL: "https://example.org/heron.png", Alt: "A heron", Caption: "A heron <b> hunts", Around: "Birds of the lake"}
	return []testPage{
		{url: "https://example.org/birds", mime: "text/html", data: "x", title: "Birds", body: "Of the lake.", lang: "en", images: []segment.Image{
			heron, {URL: "https://example.net/swan.svg", Alt: "A swan", Around: "beside a heron"}, {URL: "https://example.org/page.png", Alt: "heron, a page"},
			{URL: "https://example.net/elsewhere.png", Alt: `heron "><script>`},
		}},
		{url: "https://example.org/again", mime: "text/html", data: "x", title: "Again", body: "Nothing new.", lang: "en", images: []segment.Image{{URL: heron.URL, Alt: "heron"}}},
		{url: heron.URL, mime: "image/png", data: "\x89PNG", asset: true},
		{url: "https://example.net/swan.svg", mime: "image/svg+xml", data: "<svg/>", asset: true},
		{url: "https://example.org/page.png", mime: "text/html", data: "<p>page", title: "No image", body: "No image."},
	}
}

func answerOf(t *testing.T, h http.Handler, target string) (answer Answer) {
	t.Helper()
	w := askJSON(h, target)
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", target, w.Code, w.Body, err)
	}
	return answer
}

// picturesOf returns the images of an answer by address.
func picturesOf(answer Answer) map[string]Picture {
	found := make(map[string]Picture)
	for _, r := range answer.Results {
		found[r.Image.URL] = *r.Image
	}
	return found
}

func TestImages(t *testing.T) {
	s := newStore(t, 3)
	s.publish(lake()...)
	h := s.serve()
	answer := answerOf(t, h, "/search?q=heron+type:image")
	const heron, swan = "https://example.org/heron.png", "https://example.net/swan.svg"
	want := map[string]Picture{
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
	if w := askJSON(h, "/search?q=heron&type=image&type=text/html"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "type:image alone") {
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
	before := "/search?q=heron+type:image&asof=" + s.clock.Now().Format(time.RFC3339)
	if copied := picturesOf(answerOf(t, h, before))[swan].Copy; copied != "/page?asof=2026-11-21T12%3A00%3A00Z&url=https%3A%2F%2Fexample.net%2Fswan.svg" {
		t.Errorf("the copy of a past moment is at %s", copied)
	}
}

// TestGallery checks that results show stored images from this server, and no images from other
// servers.
func TestGallery(t *testing.T) {
	s := newStore(t, 1)
	s.publish(lake()...)
	h := s.serve()
	w := ask(h, "GET", "/search?q=heron+type:image")
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'; style-src 'self'; img-src 'self' data:;") {
		t.Errorf("policy %q", policy)
	}
	page := parse(t, w.Body.String())
	var shown []string
	page.Find("img").Each(func(_ int, image *goquery.Selection) {
		source := image.AttrOr("src", "")
		shown = append(shown, image.AttrOr("alt", "")+" at "+source)
		w := ask(h, "GET", source, "Sec-Fetch-Dest: image")
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
	if page.Find("script, b").Length() > 0 {
		t.Errorf("the page holds elements of others:\n%s", w.Body)
	}
	svg := want[1][strings.Index(want[1], "/page"):]
	if media := ask(h, "GET", svg, "Sec-Fetch-Dest: document").Header().Get("Content-Type"); media != "text/plain" {
		t.Errorf("a vector graphic that is no image of a page is served as %s", media)
	}
	if w := ask(h, "GET", "/search?q=lake"); strings.Contains(w.Header().Get("Content-Security-Policy"), "img-src 'self'") {
		t.Errorf("a page without images has the policy of %q", w.Header())
	}
	if w := ask(h, "GET", "/search?q=absent+type:image"); !strings.Contains(w.Body.String(), "No image matches") {
		t.Errorf("nothing found: %s", w.Body)
	}
	if w := ask(h, "GET", "/search?q=page+type:image"); strings.Contains(w.Body.String(), "<img") || strings.Contains(w.Body.String(), "gallery") {
		t.Errorf("without a stored image: %s", w.Body)
	}
}

// TestForgottenImages checks that a takedown of an image, or of every page that shows it, hides the
// image, though the segments still hold it.
func TestForgottenImages(t *testing.T) {
	s := newStore(t, 3)
	s.publish(lake()...)
	h := s.serve()
	forget := func(entry takedown.Entry) map[string]Picture {
		t.Helper()
		_, err := takedown.Forget(t.Context(), s.bucket, entry)
		s.check(err)
		s.clock.advance(time.Minute) // the cached settings are renewed after that
		return picturesOf(answerOf(t, h, "/search?q=heron+type:image"))
	}
	const heron, swan = "https://example.org/heron.png", "https://example.net/swan.svg"
	found := forget(takedown.URL(s.address("https://example.org/again"), noon))
	if len(found) != 4 || found[heron].AlsoOn != nil {
		t.Errorf("without one of two pages: %+v", found)
	}
	found = forget(takedown.Site("example.net", noon))
	if len(found) != 2 || found[swan].Stored {
		t.Errorf("without a site of images: %+v", found)
	}
	found = forget(takedown.URL(s.address(heron), noon))
	if len(found) != 1 {
		t.Errorf("without an image: %+v", found)
	}
	if found = forget(takedown.URL(s.address("https://example.org/birds"), noon)); len(found) != 0 {
		t.Errorf("without all pages: %+v", found)
	}
}

// TestRedirectedImage searches an image whose address redirects to another one. The copy is stored
// under the other address. The result must show this copy, unless a takedown covers the other
// address.
func TestRedirectedImage(t *testing.T) {
	s := newStore(t, 1)
	s.publish(lake()...)
	const from, to = "https://example.net/elsewhere.png", "https://example.net/swan.svg"
	a := s.address(from)
	key := s.put(book.Book{Outcomes: []book.Outcome{{
		Version: layout.Version{Epoch: 1, Token: 9}, URL: from, Place: a.Place, State: book.Skipped, Reason: membership.Redirect, Detail: "to " + to, Time: noon, Asset: true,
	}}}, 0)
	s.commit(0, func(m *manifest.Manifest) error { m.Books = append(m.Books, manifest.Book{Key: key}); return nil })
	h := s.serve()
	if found := picturesOf(answerOf(t, h, "/search?q=heron+type:image"))[from]; !found.Stored || found.Copy != "/page?url="+url.QueryEscape(to) {
		t.Errorf("%+v", found)
	}
	_, err := takedown.Forget(t.Context(), s.bucket, takedown.URL(s.address(to), noon))
	s.check(err)
	s.clock.advance(time.Minute)
	if found := picturesOf(answerOf(t, h, "/search?q=heron+type:image"))[from]; found.URL != from || found.Stored {
		t.Errorf("when it is forgotten: %+v", found)
	}
}

// TestImagesWithoutBooks damages the books, which list stored copies. It checks that images are
// found and shown without copies. If the store fails instead, the client must get an error.
func TestImagesWithoutBooks(t *testing.T) {
	s := newStore(t, 1)
	s.publish(lake()...)
	key := s.commit(0, func(*manifest.Manifest) error { return manifest.ErrUnchanged }).Books[0].Key
	down := faultblob.New(s.bucket, func(c faultblob.Call) faultblob.Fault {
		if strings.HasPrefix(c.Key, layout.Books) {
			return faultblob.Before
		}
		return faultblob.None
	})
	if w := askJSON(s.handler(down, io.Discard), "/search?q=heron+type:image"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a store that fails: %d %s", w.Code, w.Body)
	}
	s.check(s.bucket.Replace(t.Context(), key, s.flipped(key)))
	var log bytes.Buffer
	answer := answerOf(t, s.handler(s.bucket, &log), "/search?q=heron+type:image")
	if answer.Total != 4 || !strings.Contains(log.String(), key) {
		t.Errorf("total %d, log %s", answer.Total, &log)
	}
	for address, picture := range picturesOf(answer) {
		if picture.Stored {
			t.Errorf("%s is stored", address)
		}
	}
}
