package query

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

const binary = "\x00\xFFnot \xC3 text\r\n\x00"

func TestStoredCopy(t *testing.T) {
	s := newStore(t, 2)
	s.Publish(
		querytest.Page{URL: "https://example.org/found", MIME: "text/html; charset=iso-8859-1", Data: "<script>alert(1)</script>" + binary, Title: "Found", Body: "words"},
		querytest.Page{URL: "https://example.org/stored-only", MIME: "text/plain", Data: binary},
		querytest.Page{URL: "https://example.org/empty", MIME: "text/plain"},
	)
	server := httptest.NewServer(s.serve())
	defer server.Close()
	for path, want := range map[string]string{"found": "<script>alert(1)</script>" + binary, "stored-only": binary, "empty": ""} {
		target := server.URL + "/page?url=https://example.org/" + path + "%23fragment"
		for _, method := range []string{"GET", "HEAD"} {
			header, body := fetch(t, method, target)
			if method == "HEAD" {
				want = ""
			}
			if body != want {
				t.Errorf("%s %s: %q, want %q", method, path, body, want)
			}
			if got := header.Get("X-Stored-Url"); got != "https://example.org/"+path {
				t.Errorf("%s %s: copy of %q", method, path, got)
			}
			for name, want := range map[string]string{
				"Last-Modified":          "Sat, 21 Nov 2026 12:00:01 GMT",
				"Memento-Datetime":       "Sat, 21 Nov 2026 12:00:01 GMT",
				"X-Content-Type-Options": "nosniff",
				"X-Robots-Tag":           "noindex",
				"Referrer-Policy":        "no-referrer",
			} {
				if got := header.Get(name); got != want {
					t.Errorf("%s %s: %s is %q, want %q", method, path, name, got, want)
				}
			}
			policy := strings.Split(header.Get("Content-Security-Policy"), "; ")
			if policy[0] != "sandbox" || policy[1] != "default-src 'none'" || strings.Contains(header.Get("Content-Security-Policy"), "script") {
				t.Errorf("%s %s: policy %q", method, path, policy)
			}
		}
	}
}

func fetch(t *testing.T, method, target string) (http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var body strings.Builder
	if err := answer.Write(&body); err != nil {
		t.Fatal(err)
	}
	_, content, _ := strings.Cut(body.String(), "\r\n\r\n")
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s", method, target, answer.Status)
	}
	return answer.Header, content
}

// TestNoTextAnyMore replaces a page with words by a version without text. It checks that the old
// words no longer find the page, and that its stored copy is the new version.
func TestNoTextAnyMore(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Page{URL: "https://example.org/x", MIME: "text/html", Data: "OLD", Title: "Manual", Body: "old words"})
	s.Publish(querytest.Page{URL: "https://example.org/x", MIME: "image/png", Data: "NEW"})
	h := s.serve()
	if w := querytest.Ask(h, "GET", "/page?url=https://example.org/x"); w.Code != http.StatusOK || w.Body.String() != "NEW" {
		t.Errorf("stored copy: %d %s", w.Code, w.Body)
	}
	for _, query := range []string{"old", "site:example.org", "manual"} {
		if w := querytest.AskJSON(h, "/search?q="+query); strings.Contains(w.Body.String(), "example.org/x") {
			t.Errorf("%s: %s", query, w.Body)
		}
	}
}

func TestStoredCopyIsNotSentTwice(t *testing.T) {
	s := newStore(t, 1)
	page := querytest.Page{URL: "https://example.org/", MIME: "text/html", Data: "first", Title: "First", Body: "words"}
	s.Publish(page)
	h := s.serve()
	const target = "/page?url=https://example.org/"
	etag := querytest.Ask(h, "GET", target).Header().Get("ETag")
	for _, condition := range []string{"If-None-Match: " + etag, "If-Modified-Since: Sat, 21 Nov 2026 12:00:01 GMT"} {
		if w := querytest.Ask(h, "GET", target, condition); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
			t.Errorf("%s: %d, %d bytes", condition, w.Code, w.Body.Len())
		}
	}
	page.Data = "second"
	s.Publish(page)
	s.Clock.Advance(11e9)
	if w := querytest.Ask(h, "GET", target, "If-None-Match: "+etag); w.Code != http.StatusOK || w.Body.String() != "second" {
		t.Errorf("a new version: %d %q", w.Code, w.Body)
	}
}
