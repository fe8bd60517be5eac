package query

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
)

// TestFormats asks for one page in all formats.
func TestFormats(t *testing.T) {
	const markup = `<html lang=en><title>Cats - Pets</title><meta property=og:site_name content=Pets><h1>Cats</h1><p>See <a href=dogs>dogs</a>.`
	s := newStore(t, 1)
	s.publish(
		testPage{url: "https://example.org/pets/cats", mime: "text/html", data: markup, title: "Cats", body: "words"},
		testPage{url: "https://example.org/cat.png", mime: "image/png", data: "\x89PNG\r\n\x1a\n"},
	)
	h := s.handler(s.bucket, io.Discard)
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
		w := ask(h, "GET", "/page?url=https://example.org/pets/cats&format="+format)
		if w.Code != want.status || want.body != "" && (w.Body.String() != want.body || w.Header().Get("Content-Type") != want.media) {
			t.Errorf("%s: %d, %s, %q", format, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
	}
	w := ask(h, "GET", "/page?url=https://example.org/pets/cats&format=json")
	var page structured.Page
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	if page.URL != "https://example.org/pets/cats" || page.Title != "Cats" || page.Site != "Pets" || page.Lang != "en" || len(page.Parts) != 2 || page.Fetched.Before(time.Unix(1, 0)) {
		t.Errorf("page %+v", page)
	}
	if w := ask(h, "GET", "/page?url=https://example.org/cat.png&format=text"); w.Code != http.StatusUnsupportedMediaType || !strings.Contains(w.Body.String(), "image/png") {
		t.Errorf("image as text: %d, %s", w.Code, w.Body)
	}
}

// TestAlike shows pages with the same text as one, and the others where they are asked for.
func TestAlike(t *testing.T) {
	body := strings.Repeat("The same words stand on both of these pages. ", 9)
	s := newStore(t, 1)
	s.publish(
		testPage{url: "https://example.org/one", mime: "text/html", data: "x", title: "One", body: body, lang: "en"},
		testPage{url: "https://example.org/another", mime: "text/html", data: "x", title: "Two", body: body, lang: "en"},
	)
	h := s.handler(s.bucket, io.Discard)
	for q, want := range map[string][]string{"words": {"https://example.org/another"}, "words+dup:all": nil} {
		var answer Answer
		w := askJSON(h, "/search?q="+q)
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err, w.Body)
		}
		if answer.Total != 2 || len(answer.Results) != 2-len(want) || !slices.Equal(answer.Results[0].Alike, want) {
			t.Errorf("%s: %+v", q, answer)
		}
	}
	if page := ask(h, "GET", "/search?q=words").Body.String(); !strings.Contains(page, `<a href="/search?q=words&#43;dup%3Aall">1 alike</a>`) && !strings.Contains(page, `<a href="/search?q=words+dup%3Aall">1 alike</a>`) {
		t.Errorf("no link to alike pages in %s", page)
	}
}
