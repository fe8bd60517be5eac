package query

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// TestPasted checks that the page of a pasted address comes first, also if the address is written in
// another form or redirects to the page. For an address that is not stored, a note must say why.
func TestPasted(t *testing.T) {
	s := newStore(t, 2)
	pages := querytest.Manual(9)
	pages = append(pages,
		querytest.Page{URL: "http://example.org/", MIME: "text/html", Data: "x", Title: "Start", Body: "Nothing else."},
		querytest.Page{URL: "http://example.org/deep/page.html", MIME: "text/html", Data: "x", Title: "Deep", Body: "Of other words."},
		querytest.Page{URL: "http://example.org/deep/kept.html?utm_source=mail", MIME: "text/html", Data: "x", Title: "Kept", Body: "In a collection that drops no parameters."},
		querytest.Page{URL: "http://example.org/picture", MIME: "image/png", Data: "x"},
	)
	s.Publish(pages...)
	at := func(raw string) book.Outcome {
		a, err := address.Parse(raw)
		s.Check(err)
		return book.Outcome{Version: layout.Version{Epoch: 1, Token: 9}, URL: a.URL, Place: a.Place, State: book.Skipped, Time: querytest.Noon, Status: 301}
	}
	moved, again, forbidden, broken, circle := at("http://example.org/moved"), at("http://example.org/again"), at("http://example.org/forbidden"), at("http://example.org/broken"), at("http://example.org/circle")
	moved.Reason, moved.Detail = membership.Redirect, "to http://example.org/again"
	again.Reason, again.Detail = membership.Canonical, "to http://example.org/deep/page.html"
	circle.Reason, circle.Detail = membership.Redirect, "to http://example.org/circle"
	forbidden.Reason, forbidden.Status = membership.Robots, 0
	broken.State, broken.Reason, broken.Status = book.Failed, "timeout", 0
	for _, o := range []book.Outcome{moved, again, forbidden, broken, circle} {
		a, err := address.Parse(o.URL)
		s.Check(err)
		p, err := s.Rules.Decide(a)
		s.Check(err)
		key := s.Put(book.Book{Outcomes: []book.Outcome{o}}, layout.Partition(p))
		s.Commit(layout.Partition(p), func(m *manifest.Manifest) error {
			m.Books = append(m.Books, manifest.Book{Key: key, Outcomes: 1, Bytes: 1})
			return nil
		})
	}
	h := s.serve()
	for _, test := range []struct{ query, first, note string }{
		{"http://example.org/deep/page.html#part", "http://example.org/deep/page.html", ""},
		{"https://example.org/deep/page.html", "http://example.org/deep/page.html", ""},
		{"www.example.org/deep/page.html", "http://example.org/deep/page.html", ""},
		{"<http://example.org/deep/page.html>", "http://example.org/deep/page.html", ""},
		{"http://example.org/deep/page.html?utm_source=mail", "http://example.org/deep/page.html", ""},
		{"http://example.org/deep/kept.html?utm_source=mail", "http://example.org/deep/kept.html?utm_source=mail", ""},
		{"example.org", "http://example.org/", ""},
		{"EXAMPLE.org/index.html", "http://example.org/", ""},
		{"http://example.org/moved", "http://example.org/deep/page.html", "http://example.org/moved leads to http://example.org/deep/page.html."},
		{"http://example.org/circle", "", "http://example.org/circle is not stored: it leads on and on to other addresses."},
		{"http://example.org/forbidden", "", "http://example.org/forbidden is not stored: it was skipped (" + membership.Robots + ")."},
		{"http://example.org/broken", "", "http://example.org/broken is not stored: it could not be had (timeout)."},
		{"http://example.org/picture", "http://example.org/picture", ""}, // without words, but named
		{"https://example.org/manual", "", "https://example.org/manual is not stored: it was never asked for."},
		{"example1.org/manual", "https://example1.org/manual", ""},
		{"example.org/manual", "", "https://example.org/manual is not stored: it was never asked for."},
		{"manual.example", "", ""},
	} {
		w := querytest.AskJSON(h, "/search?q="+url.QueryEscape(test.query))
		var got engine.Answer
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v %s", test.query, err, w.Body)
		}
		if test.first != "" && (len(got.Results) == 0 || got.Results[0].URL != test.first) || strings.Join(got.Notes, " ") != test.note {
			t.Errorf("%s: %q, %+v", test.query, got.Notes, got.Results)
		}
	}
	if w := querytest.AskJSON(h, "/search?q=https://example.org/manual"); !strings.Contains(w.Body.String(), "example3.org/manual") {
		t.Errorf("the words of an address that is not stored find nothing: %s", w.Body)
	}
}

// TestCostOfPasted checks that a search for a pasted address takes no more steps (rounds of requests,
// each of which must wait for the one before) than a search for words.
func TestCostOfPasted(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(9)...)
	e := s.engine(meter.Bucket(s.Bucket))
	found, err := e.Search(t.Context(), engine.Query{Query: search.Query{Text: "https://example3.org/manual", Size: 10}, Cost: true})
	if err != nil || len(found.Hits) != 9 || found.Hits[0].URL != "https://example3.org/manual" || found.Cost.DependentSteps > 4 {
		t.Errorf("%d steps, %d hits, %v", found.Cost.DependentSteps, len(found.Hits), err)
	}
}
