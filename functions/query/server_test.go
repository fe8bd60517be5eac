package query

import (
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// TestHealth checks that a server without its object store runs, but is not ready.
func TestHealth(t *testing.T) {
	s := newStore(t, 2)
	s.Publish(querytest.Manual(3)...)
	down := false
	h := s.handler(faultblob.New(s.Bucket, func(faultblob.Call) faultblob.Fault {
		if down {
			return faultblob.Before
		}
		return faultblob.None
	}), io.Discard)
	for _, want := range []int{http.StatusOK, http.StatusServiceUnavailable, http.StatusOK} {
		down = want != http.StatusOK
		s.Clock.Advance(time.Hour)
		if w := querytest.Ask(h, "GET", "/healthz"); w.Code != http.StatusOK {
			t.Errorf("/healthz: %d %s", w.Code, w.Body)
		}
		if w := querytest.Ask(h, "GET", "/readyz"); w.Code != want || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("/readyz: %d %s, want %d", w.Code, w.Body, want)
		}
	}
}

// TestReadyWithoutManifests checks that /readyz answers that the server is not ready when pages are stored
// but no manifest can be read.
func TestReadyWithoutManifests(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(1)...)
	for object, err := range s.Bucket.List(t.Context(), layout.Manifests, "") {
		s.Check(err)
		s.Check(s.Bucket.Delete(t.Context(), object.Key))
	}
	s.Check(s.Bucket.Delete(t.Context(), layout.HintKey(0)))
	if w := querytest.Ask(s.handler(s.Bucket, io.Discard), "GET", "/readyz"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "verify --repair") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestCompat checks that front ends made for other search services are answered.
func TestCompat(t *testing.T) {
	s := newStore(t, 2)
	s.Publish(querytest.Manual(3)...)
	w := querytest.Ask(s.handler(s.Bucket, io.Discard), "GET", "/compat/meilisearch/indexes/all/search?q=manual")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"estimatedTotalHits":3`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestRobots reads robots.txt as our own crawler does.
func TestRobots(t *testing.T) {
	rules := robots.Parse(http.StatusOK, querytest.Ask(newStore(t, 1).serve(), "GET", "/robots.txt").Body.Bytes(), "bucketsearch")
	for path, want := range map[string]bool{"/": true, "/style.css?1": true, "/search?q=a": false, "/page?url=a": false, "/copy?url=a": false, "/mcp": false, "/compat/algolia/1/indexes/a/query": false, "/v1/": false, "/v1/search?q=a": false} {
		if got := rules.Allows(path); got != want {
			t.Errorf("%s is allowed: %v", path, got)
		}
	}
}

// TestOpenSearch searches as a browser does that has read the description.
func TestOpenSearch(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(1)...)
	h := s.serve()
	home := parse(t, querytest.Ask(h, "GET", "/").Body.String())
	at := home.Find("link[rel=search]").AttrOr("href", "none")
	var told struct {
		XMLName xml.Name `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
		Urls    []struct {
			Type     string `xml:"type,attr"`
			Rel      string `xml:"rel,attr"`
			Template string `xml:"template,attr"`
		} `xml:"Url"`
	}
	w := querytest.Ask(h, "GET", "https://search.example.org"+at)
	if err := xml.Unmarshal(w.Body.Bytes(), &told); err != nil {
		t.Fatalf("%s: %d %v", at, w.Code, err)
	}
	fill := strings.NewReplacer("{searchTerms}", "manual", "{startIndex?}", "", "{count?}", "5")
	for _, u := range told.Urls {
		target := fill.Replace(u.Template)
		w := querytest.Ask(h, "GET", target)
		media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
		if w.Code != http.StatusOK || media != u.Type || u.Rel == "" && !strings.Contains(w.Body.String(), "https://example0.org/manual") || !strings.HasPrefix(target, "https://search.example.org/") {
			t.Errorf("%s: %d %s", target, w.Code, media)
		}
	}
	if len(told.Urls) != 5 {
		t.Errorf("%+v", told)
	}
}

// TestFeedLink follows the link from a page of results to the feed of the same search.
func TestFeedLink(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(3)...)
	h := s.serve()
	page := parse(t, querytest.Ask(h, "GET", "/search?q=manual&site=example1.org&n=2").Body.String())
	feed := querytest.Ask(h, "GET", page.Find("a[rel=alternate]").AttrOr("href", "none"))
	if feed.Code != http.StatusOK || strings.Count(feed.Body.String(), "<entry>") != 1 {
		t.Errorf("%d %s", feed.Code, feed.Body)
	}
}

// TestHeaders checks what caches and crawlers are told of each kind of answer.
func TestHeaders(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(1)...)
	h := s.serve()
	const stored = "https://example0.org/manual"
	for target, want := range map[string]struct{ cache, robots string }{
		"/":                                    {"private, max-age=10", ""},
		"/search?q=manual":                     {"private, max-age=10", "noindex"},
		"/search?q=manual&n=0":                 {"no-store", ""},
		"/v1/search?q=manual":                  {"max-age=10", "noindex"},
		"/v1/search?q=manual&n=0":              {"no-store", "noindex"},
		"/page?url=" + stored:                  {"private, max-age=60", "noindex"},
		"/v1/page?url=" + stored:               {"private, max-age=60", "noindex"},
		"/page?url=" + stored + "nowhere":      {"no-store", ""},
		"/page?url=" + stored + "&format=text": {"private, max-age=60", "noindex"},
	} {
		w := querytest.Ask(h, "GET", target)
		if got := w.Header(); got.Get("Cache-Control") != want.cache || got.Get("X-Robots-Tag") != want.robots {
			t.Errorf("%s: %q %q", target, got.Get("Cache-Control"), got.Get("X-Robots-Tag"))
		}
		if w.Code == http.StatusOK && strings.Contains(target, stored) {
			if w := querytest.Ask(h, "GET", target, "If-None-Match: "+w.Header().Get("ETag")); w.Code != http.StatusNotModified {
				t.Errorf("%s again: %d", target, w.Code)
			}
		}
	}
}

// TestCompressed checks that long answers of all kinds come in gzip, and say the same as without it.
func TestCompressed(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(20)...)
	long := querytest.Page{URL: "https://example.org/long", MIME: "text/html", Data: "<p>" + strings.Repeat("words and ", 500), Title: "Long", Body: "Long."}
	s.Publish(long)
	h := s.serve()
	for _, target := range []string{"/", "/search?q=manual", "/v1/search?q=manual", "/v1/search?q=manual&format=atom", "/style.css", "/page?url=" + url.QueryEscape(long.URL)} {
		plain, packed := querytest.Ask(h, "GET", target), querytest.Ask(h, "GET", target, "Accept-Encoding: gzip")
		if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len() >= plain.Body.Len() || !slices.Contains(plain.Header().Values("Vary"), "Accept-Encoding") {
			t.Errorf("%s: %v, %d bytes of %d", target, packed.Header(), packed.Body.Len(), plain.Body.Len())
			continue
		}
		zip, err := gzip.NewReader(packed.Body)
		s.Check(err)
		content, err := io.ReadAll(zip)
		if err != nil || string(content) != plain.Body.String() {
			t.Errorf("%s: %v, other content", target, err)
		}
	}
}

// TestAlias checks that a search by a client that accepts JSON is answered as by the API.
func TestAlias(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(12)...)
	h := s.serve()
	var alias, answer engine.Answer
	s.Check(json.Unmarshal(querytest.AskJSON(h, "/search?q=manual").Body.Bytes(), &alias))
	s.Check(json.Unmarshal(querytest.Ask(h, "GET", "/v1/search?q=manual").Body.Bytes(), &answer))
	if alias.Total != 12 || alias.Total != answer.Total || len(alias.Results) != len(answer.Results) {
		t.Errorf("%+v, %+v", alias, answer)
	}
}
