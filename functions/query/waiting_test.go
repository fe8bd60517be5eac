package query

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// TestNothingIndexedYet searches at three stages of a first crawl: before anything is stored in packages,
// when two pages are stored, and when a third page is indexed. Only at the last stage may the page of
// results say that no page matches the query.
func TestNothingIndexedYet(t *testing.T) {
	s := newStore(t, 1)
	e := s.engine(s.Bucket)
	crawl := "3 pages fetched, 0 searchable"
	e.Crawling = func() string { return crawl }
	h := handlerOf(e)
	expect := func(when, heading string, notes ...string) {
		t.Helper()
		s.Clock.Advance(e.Age)
		var answer engine.Answer
		if err := json.Unmarshal(querytest.AskJSON(h, "/search?q=gull").Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(notes, answer.Notes); diff != "" {
			t.Errorf("%s: notes of the JSON answer (-want +got):\n%s", when, diff)
		}
		page := parse(t, querytest.Ask(h, "GET", "/search?q=gull").Body.String())
		if diff := cmp.Diff(notes, texts(page.Find(".note"))); diff != "" {
			t.Errorf("%s: notes on the page (-want +got):\n%s", when, diff)
		}
		if got := page.Find("h1").Text(); got != heading {
			t.Errorf("%s: the page says %q, want %q", when, got, heading)
		}
		if blames := strings.Contains(page.Text(), "spelling"); blames != (heading == "No page matches") {
			t.Errorf("%s: the page speaks of the spelling: %v", when, blames)
		}
	}
	expect("nothing is packed", "Nothing can be found yet", "Nothing is indexed yet.", "A crawl runs: 3 pages fetched, 0 searchable.")
	if got := parse(t, querytest.Ask(h, "GET", "/").Body.String()).Find(".note").Text(); got != "A crawl runs: 3 pages fetched, 0 searchable." {
		t.Errorf("the home page says %q", got)
	}
	crawl = ""
	if got := parse(t, querytest.Ask(h, "GET", "/").Body.String()).Find(".note").Length(); got > 0 {
		t.Error("the home page has a note without a crawl")
	}
	s.Publish(querytest.Page{URL: "https://example.org/1", Waits: true}, querytest.Page{URL: "https://example.org/2", Waits: true})
	s.Commit(0, func(m *manifest.Manifest) error {
		m.Packages[0].Indexed = false
		return nil
	})
	expect("packed", "Nothing can be found yet", "Nothing is indexed yet: 2 stored pages wait to be indexed, by the system that runs or the next crawl.")
	s.Publish(querytest.Page{URL: "https://example.org/3", MIME: "text/html", Title: "Heron", Body: "A heron."})
	expect("some pages are indexed", "No page matches", "2 pages wait to be indexed, by the system that runs or the next crawl.")
}
