package mcp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

// TestSearch checks what a result says: title, address, dates, hash, language and excerpt.
func TestSearch(t *testing.T) {
	s := newStore(t)
	s.Publish(querytest.Page{URL: "https://example.org/cats", MIME: "text/html", Data: "<h1>Cats</h1>", Title: "Of cats", Body: "Cats sleep.", Lang: "en"})
	head, content := parts(t, s.client().must("search", map[string]any{"query": "cats"}))
	if want := "1 page matches; these are results 1 to 1.\nCite a page by"; !strings.HasPrefix(head, want) {
		t.Errorf("head %q, want %q", head, want)
	}
	want := fmt.Sprintf("[1] Of cats\nhttps://example.org/cats\nfetched 2026-11-21, sha256 %s, en, text/html\nCats sleep.", hashOf("<h1>Cats</h1>"))
	if content != want {
		t.Errorf("content\n%s\nwant\n%s", content, want)
	}
}

// TestSearchPages turns the pages of results. Each page of the manual must be shown once.
func TestSearchPages(t *testing.T) {
	s := newStore(t)
	s.Publish(querytest.Manual(9)...)
	c := s.client()
	seen := make(map[string]int)
	arguments := map[string]any{"query": "manual", "n": 4}
	answers := 0
	for {
		_, content := parts(t, c.must("search", arguments))
		for line := range strings.Lines(content) {
			if strings.HasPrefix(line, "https://") {
				seen[line]++
			}
		}
		answers++
		more := cursorIn(c.must("search", arguments))
		if more == "" {
			break
		}
		arguments["cursor"] = more
	}
	if len(seen) != 9 || answers != 3 {
		t.Errorf("%d answers show %v", answers, seen)
	}
	arguments["query"] = "chapter"
	if text, failed := c.call("search", arguments); !failed || !strings.Contains(text, "belongs to another search") {
		t.Errorf("the cursor of another search: %s", text)
	}
}

// TestSearchArguments checks filters, and that wrong arguments are answered by a sentence.
func TestSearchArguments(t *testing.T) {
	s := newStore(t)
	s.Publish(
		querytest.Page{URL: "https://example.org/en", MIME: "text/html", Data: "x", Title: "House", Body: "the house", Lang: "en", Collections: []string{"docs"}, Date: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)},
		querytest.Page{URL: "https://example.net/de", MIME: "application/pdf", Data: "x", Title: "House", Body: "house", Lang: "de", Collections: []string{"news"}},
	)
	c := s.client()
	for _, test := range []struct {
		arguments map[string]any
		want      string // part of the answer
		failed    bool
	}{
		{map[string]any{"query": "house"}, "2 pages match", false},
		{map[string]any{"query": "house", "site": "example.org"}, "1 page matches", false},
		{map[string]any{"query": "house", "site": "example.org", "lang": "de"}, "Leave out filters", false},
		{map[string]any{"query": "house", "lang": "de"}, "https://example.net/de\n", false},
		{map[string]any{"query": "house", "collection": "docs"}, "https://example.org/en\n", false},
		{map[string]any{"query": "house", "type": "pdf"}, "https://example.net/de\n", false},
		{map[string]any{"query": "house", "after": "2026-11-22"}, "Nothing is found", false},
		{map[string]any{"query": "house", "before": "2026-11-22"}, "1 page matches", false},
		{map[string]any{"query": "nonsense"}, "without quotes and signs; list_collections", false},
		{map[string]any{"query": " "}, "The query is empty", true},
		{map[string]any{"query": strings.Repeat("x", 5000)}, "at most 4096", true},
		{map[string]any{"query": "house", "n": 21}, "n is 21; write a whole number from 1 to 20", true},
		{map[string]any{"query": "house", "after": "yesterday"}, "write a date such as", true},
		{map[string]any{"query": "house", "cursor": "x"}, "The cursor is malformed", true},
		{map[string]any{"query": "house", "cursor": cursor{of: searchInput{Query: "house"}.digest(), from: 9999}.String()}, "Only the first 10000", true},
		{map[string]any{"query": "house", "cursor": cursor{of: searchInput{Query: "house"}.digest(), from: 5}.String()}, "no further results", false},
		{map[string]any{}, "query", true},
		{map[string]any{"query": "house", "color": "red"}, "color", true},
	} {
		text, failed := c.call("search", test.arguments)
		if !strings.Contains(text, test.want) || failed != test.failed {
			t.Errorf("%.100v: %s", test.arguments, text)
		}
	}
	if s.log.Len() > 0 {
		t.Errorf("mistakes of clients are logged: %s", s.log.String())
	}
}

// TestLongResults searches pages with long titles and addresses. The answer must be cut between
// results, and name the cursor of the next one.
func TestLongResults(t *testing.T) {
	s := newStore(t)
	var pages []querytest.Page
	for i := range 12 {
		pages = append(pages, querytest.Page{
			URL: fmt.Sprintf("https://example%d.org/%s", i, strings.Repeat("a&", 700)), MIME: "text/html", Data: "x",
			Title: "Manual " + strings.Repeat("\"<w> ", 100), Body: fmt.Sprintf("manual number %d", i),
		})
	}
	s.Publish(pages...)
	head, content := parts(t, s.client().must("search", map[string]any{"query": "manual", "n": 12}))
	last := strings.Count("\n"+content, "\n[")
	if last < 1 || last > 4 || !strings.Contains(head, fmt.Sprintf("results 1 to %d.", last)) || cursorIn(head) == "" {
		t.Errorf("%d results; head %s", last, head)
	}
}
