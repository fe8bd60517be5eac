package query

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

func TestReadPasted(t *testing.T) {
	for _, test := range []struct {
		query   string
		written []string // the addresses that are read; none if the query is not an address
		certain bool
	}{
		{"https://Example.org/a?x=1#f", []string{"https://example.org/a?x=1"}, true},
		{"HTTP://example.org", []string{"http://example.org/"}, true},
		{"example.org/a", []string{"https://example.org/a", "http://example.org/a"}, true},
		{"example.org", []string{"https://example.org/", "http://example.org/"}, false},
		{"example.org/", []string{"https://example.org/", "http://example.org/"}, false},
		{"example.org:8080/a", []string{"https://example.org:8080/a", "http://example.org:8080/a"}, true},
		{"127.0.0.1:8099/sql.html", []string{"https://127.0.0.1:8099/sql.html", "http://127.0.0.1:8099/sql.html"}, true},
		{"localhost:8080", []string{"https://localhost:8080/", "http://localhost:8080/"}, false},
		{"bücher.de/a", []string{"https://xn--bcher-kva.de/a", "http://xn--bcher-kva.de/a"}, true},
		{"", nil, false}, {"fox", nil, false}, {"os.path", nil, false}, {"lib/libpq.so", nil, false}, {"someone@example.org", nil, false},
		{"site:example.org", nil, false}, {"type:pdf", nil, false}, {"example.org fox", nil, false}, {"\"example.org\"", nil, false},
		{"ftp://example.org/a", nil, false}, {"-example.org", nil, false}, {"localhost", nil, false}, {"LOCALHOST", nil, false}, {"and/or", nil, false}, {"://", nil, false},
		{"https://", nil, false}, {".org", nil, false}, {"co.uk", nil, false}, {"1.5", nil, false}, {"www", nil, false},
	} {
		p, is := readPasted(test.query)
		var written []string
		for _, a := range p.written {
			written = append(written, a.URL)
		}
		if is != (test.written != nil) || !slices.Equal(written, test.written) || p.certain != test.certain {
			t.Errorf("%q: %v %q, certain: %v", test.query, is, written, p.certain)
		}
	}
	p, _ := readPasted("www.example.org/a/")
	var forms []string
	for _, a := range p.forms {
		forms = append(forms, a.URL)
	}
	want := []string{
		"https://www.example.org/a/", "http://www.example.org/a/", "https://www.example.org/a", "http://www.example.org/a",
		"https://www.example.org/a/index.html", "http://www.example.org/a/index.html",
		"https://example.org/a/", "http://example.org/a/", "https://example.org/a", "http://example.org/a",
		"https://example.org/a/index.html", "http://example.org/a/index.html",
	}
	if diff := cmp.Diff(want, forms); diff != "" {
		t.Errorf("forms (-want +got):\n%s", diff)
	}
}

func FuzzReadPasted(f *testing.F) {
	f.Add("https://example.org/a?b#c")
	f.Add("[::1]:80/x")
	f.Fuzz(func(t *testing.T, query string) {
		p, is := readPasted(query)
		if is && (len(p.written) == 0 || len(p.forms) < len(p.written) || p.forms[0] != p.written[0]) {
			t.Errorf("%q: %+v", query, p)
		}
	})
}

// TestPasted checks that the page of a pasted address comes first, also if the address is written in
// another form or redirects to the page. For an address that is not stored, a note must say why.
func TestPasted(t *testing.T) {
	s := newStore(t, 2)
	pages := manual(9)
	pages = append(pages,
		testPage{url: "http://example.org/", mime: "text/html", data: "x", title: "Start", body: "Nothing else."},
		testPage{url: "http://example.org/deep/page.html", mime: "text/html", data: "x", title: "Deep", body: "Of other words."},
		testPage{url: "http://example.org/picture", mime: "image/png", data: "x"},
	)
	s.publish(pages...)
	at := func(raw string) book.Outcome {
		a, err := address.Parse(raw)
		s.check(err)
		return book.Outcome{Version: layout.Version{Epoch: 1, Token: 9}, URL: a.URL, Place: a.Place, State: book.Skipped, Time: noon, Status: 301}
	}
	moved, again, forbidden, broken, circle := at("http://example.org/moved"), at("http://example.org/again"), at("http://example.org/forbidden"), at("http://example.org/broken"), at("http://example.org/circle")
	moved.Reason, moved.Detail = membership.Redirect, "to http://example.org/again"
	again.Reason, again.Detail = membership.Canonical, "to http://example.org/deep/page.html"
	circle.Reason, circle.Detail = membership.Redirect, "to http://example.org/circle"
	forbidden.Reason, forbidden.Status = membership.Robots, 0
	broken.State, broken.Reason, broken.Status = book.Failed, "timeout", 0
	for _, o := range []book.Outcome{moved, again, forbidden, broken, circle} {
		a, err := address.Parse(o.URL)
		s.check(err)
		p, err := s.rules.Decide(a)
		s.check(err)
		key := s.put(book.Book{Outcomes: []book.Outcome{o}}, layout.Partition(p))
		s.commit(layout.Partition(p), func(m *manifest.Manifest) error {
			m.Books = append(m.Books, manifest.Book{Key: key, Outcomes: 1, Bytes: 1})
			return nil
		})
	}
	h := s.serve()
	for _, test := range []struct{ query, first, note string }{
		{"http://example.org/deep/page.html#part", "http://example.org/deep/page.html", ""},
		{"https://example.org/deep/page.html", "http://example.org/deep/page.html", ""},
		{"www.example.org/deep/page.html", "http://example.org/deep/page.html", ""},
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
		w := askJSON(h, "/search?q="+url.QueryEscape(test.query))
		var got Answer
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v %s", test.query, err, w.Body)
		}
		if test.first != "" && (len(got.Results) == 0 || got.Results[0].URL != test.first) || strings.Join(got.Notes, " ") != test.note {
			t.Errorf("%s: %q, %+v", test.query, got.Notes, got.Results)
		}
	}
	if w := askJSON(h, "/search?q=https://example.org/manual"); !strings.Contains(w.Body.String(), "example3.org/manual") {
		t.Errorf("the words of an address that is not stored find nothing: %s", w.Body)
	}
}

// TestCostOfPasted checks that a search for a pasted address takes no more steps (rounds of requests,
// each of which must wait for the one before) than a search for words.
func TestCostOfPasted(t *testing.T) {
	s := newStore(t, 1)
	s.publish(manual(9)...)
	e := s.engine(meter.Bucket(s.bucket))
	found, err := e.Search(t.Context(), Query{Query: search.Query{Text: "https://example3.org/manual", Size: 10}, Cost: true})
	if err != nil || len(found.Hits) != 9 || found.Hits[0].URL != "https://example3.org/manual" || found.Cost.DependentSteps > 4 {
		t.Errorf("%d steps, %d hits, %v", found.Cost.DependentSteps, len(found.Hits), err)
	}
}
