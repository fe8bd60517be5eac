package query

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
)

// TestFormats requests one page in all formats.
func TestFormats(t *testing.T) {
	const markup = `<html lang=en><title>Cats - Pets</title><meta property=og:site_name content=Pets><h1>Cats</h1><p>See <a href=dogs>dogs</a>.`
	s := newStore(t, 1)
	s.Publish(
		querytest.Page{URL: "https://example.org/pets/cats", MIME: "text/html", Data: markup, Title: "Cats", Body: "words"},
		querytest.Page{URL: "https://example.org/cat.png", MIME: "image/png", Data: "\x89PNG\r\n\x1a\n"},
	)
	h := s.handler(s.Bucket, io.Discard)
	for format, want := range map[string]struct {
		status      int
		media, body string
	}{
		"":         {http.StatusOK, "text/html", markup},
		"html":     {http.StatusOK, "text/html", markup},
		"text":     {http.StatusOK, "text/plain; charset=utf-8", "Cats\n\nSee dogs.\n"},
		"markdown": {http.StatusOK, "text/markdown; charset=utf-8", "# Cats\n\nSee [dogs](https://example.org/pets/dogs).\n"},
		"pdf":      {http.StatusBadRequest, "", ""},
	} {
		w := querytest.Ask(h, "GET", "/page?url=https://example.org/pets/cats&format="+format)
		if w.Code != want.status || want.body != "" && (w.Body.String() != want.body || w.Header().Get("Content-Type") != want.media) {
			t.Errorf("%s: %d, %s, %q", format, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
	}
	w := querytest.Ask(h, "GET", "/page?url=https://example.org/pets/cats&format=json")
	var page structured.Page
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	if page.URL != "https://example.org/pets/cats" || page.Title != "Cats" || page.Site != "Pets" || page.Lang != "en" || len(page.Parts) != 2 || page.Fetched.Before(time.Unix(1, 0)) {
		t.Errorf("page %+v", page)
	}
	if w := querytest.Ask(h, "GET", "/page?url=https://example.org/cat.png&format=text"); w.Code != http.StatusUnsupportedMediaType || !strings.Contains(w.Body.String(), "image/png") {
		t.Errorf("image as text: %d, %s", w.Code, w.Body)
	}
}
