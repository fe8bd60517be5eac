package api_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/api"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

var harbour = querytest.Page{
	URL: "https://example.org/harbour", MIME: "text/html", Data: "<h1>Der Hafen</h1><p>Text</p>",
	Title: "Müllers Hafen & Kai", Body: "Über 20 Schiffe liegen im Hafen <ruhig>.", Lang: "de",
}

// TestMarks checks that the marks of a result are the offsets of the words in characters, and that
// HTML is escaped around them.
func TestMarks(t *testing.T) {
	_, h := newStore(t, harbour)
	answer := get[api.Answer](t, h, "/v1/search?q=hafen&highlight=html", http.StatusOK)
	if len(answer.Results) != 1 {
		t.Fatalf("%+v", answer)
	}
	result := answer.Results[0]
	for text, marks := range map[string][][2]int{result.Title: result.Marks.Title, result.Snippet.Snippet: result.Marks.Snippet} {
		if len(marks) != 1 || string([]rune(text)[marks[0][0]:marks[0][1]]) != "Hafen" {
			t.Errorf("%q is marked at %v", text, marks)
		}
	}
	if want := "Müllers <mark>Hafen</mark> &amp; Kai"; result.TitleHTML != want {
		t.Errorf("title %q, want %q", result.TitleHTML, want)
	}
	if want := "Über 20 Schiffe liegen im <mark>Hafen</mark> &lt;ruhig&gt;."; result.SnippetHTML != want {
		t.Errorf("snippet %q, want %q", result.SnippetHTML, want)
	}
	if plain := get[api.Answer](t, h, "/v1/search?q=hafen", http.StatusOK); plain.Results[0].TitleHTML != "" {
		t.Errorf("HTML that nobody asked for: %q", plain.Results[0].TitleHTML)
	}
}

// TestPages follows the paths of the next pages of results to the last one, and those of the
// previous pages back to the first one.
func TestPages(t *testing.T) {
	_, h := newStore(t, querytest.Manual(25)...)
	var seen []string
	var visited []string
	last := ""
	for next := "/v1/search?n=10&q=manual&site=example.org&site=" + siteList(25); next != ""; {
		answer := get[api.Answer](t, h, next, http.StatusOK)
		if answer.Query.From != len(seen) || answer.Query.N != 10 || answer.Query.Text != "manual" || len(answer.Query.Site) != 26 {
			t.Errorf("%s was read as %+v", next, answer.Query)
		}
		for _, r := range answer.Results {
			seen = append(seen, r.URL)
		}
		visited = append(visited, next)
		last, next = next, answer.Next
	}
	slices.Sort(seen)
	if n := len(slices.Compact(seen)); n != 25 || len(visited) != 3 {
		t.Errorf("%d results on the pages %v", n, visited)
	}
	for back := last; back != ""; {
		visited = slices.DeleteFunc(visited, func(path string) bool { return sameParameters(t, path, back) })
		back = get[api.Answer](t, h, back, http.StatusOK).Previous
	}
	if len(visited) != 0 {
		t.Errorf("not reached on the way back: %v", visited)
	}
	far := get[api.Answer](t, h, "/v1/search?q=manual&from=500", http.StatusOK)
	if far.Previous != "/v1/search?from=20&q=manual" || far.Next != "" || far.Results == nil {
		t.Errorf("behind the end: %+v", far)
	}
}

func siteList(n int) string {
	var sites []string
	for _, p := range querytest.Manual(n) {
		u, _ := url.Parse(p.URL)
		sites = append(sites, u.Host)
	}
	return strings.Join(sites, "&site=")
}

func sameParameters(t *testing.T, a, b string) bool {
	t.Helper()
	one, err := url.Parse(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := url.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(one.Query(), other.Query())
}

func TestLines(t *testing.T) {
	_, h := newStore(t, querytest.Manual(3)...)
	w := querytest.Ask(h, "GET", "/v1/search?q=manual&format=ndjson")
	if got := w.Header().Get("Content-Type"); got != "application/x-ndjson" {
		t.Fatalf("%d %s", w.Code, got)
	}
	whole := get[api.Answer](t, h, "/v1/search?q=manual", http.StatusOK)
	lines := bufio.NewScanner(w.Body)
	lines.Scan()
	var head api.Answer
	if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		var result api.Result
		if err := json.Unmarshal(lines.Bytes(), &result); err != nil {
			t.Fatal(err)
		}
		head.Results = append(head.Results, result)
	}
	if diff := cmp.Diff(whole, head); diff != "" {
		t.Errorf("in lines (-json +ndjson):\n%s", diff)
	}
}

func TestFacets(t *testing.T) {
	pages := append(querytest.Manual(3), harbour)
	pages[0].Date, pages[1].Date, pages[3].Date = querytest.Noon.AddDate(-2, 0, 0), querytest.Noon, querytest.Noon.AddDate(0, -1, 0)
	_, h := newStore(t, pages...)
	answer := get[map[string]any](t, h, "/v1/facets?q=manual+hafen", http.StatusOK)
	if _, found := answer["results"]; found || answer["total"] != 4.0 {
		t.Errorf("%v", answer)
	}
	all, _ := answer["facets"].(map[string]any)
	if len(all) != 5 {
		t.Errorf("facets %v", all)
	}
	want := []any{map[string]any{"value": "", "pages": 3.0}, map[string]any{"value": "de", "pages": 1.0}}
	if diff := cmp.Diff(want, all["lang"]); diff != "" {
		t.Errorf("languages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{map[string]any{"value": "2026", "pages": 2.0}, map[string]any{"value": "2024", "pages": 1.0}}, all["year"]); diff != "" {
		t.Errorf("years (-want +got):\n%s", diff)
	}
	one := get[api.Answer](t, h, "/v1/facets?q=manual+hafen&facet=site&facet=site", http.StatusOK)
	if len(one.Facets) != 1 || len(one.Facets["site"]) != 4 {
		t.Errorf("facets %v", one.Facets)
	}
}

// TestSameAnswer checks that an answer of which the client has a copy is not sent again, however
// long it took, and that it is sent when it has changed.
func TestSameAnswer(t *testing.T) {
	s, h := newStore(t, querytest.Manual(3)...)
	for _, format := range []string{"json", "ndjson", "atom", "rss"} {
		target := "/v1/search?q=manual&format=" + format
		first := querytest.Ask(h, "GET", target)
		tag := first.Header().Get("ETag")
		if first.Code != http.StatusOK || tag == "" || first.Header().Get("Cache-Control") != "max-age=10" {
			t.Fatalf("%s: %d %v", format, first.Code, first.Header())
		}
		if w := querytest.Ask(h, "GET", target, "If-None-Match: "+tag); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
			t.Errorf("%s: the same again: %d %s", format, w.Code, w.Body)
		}
		s.Publish(querytest.Page{URL: "https://example.org/" + format, MIME: "text/html", Title: "Manual of " + format, Body: "A further manual."})
		s.Clock.Advance(20 * time.Second)
		if w := querytest.Ask(h, "GET", target, "If-None-Match: "+tag); w.Code != http.StatusOK || w.Header().Get("ETag") == tag {
			t.Errorf("%s: after a change: %d %v", format, w.Code, w.Header())
		}
	}
	if w := querytest.Ask(h, "GET", "/v1/search?q=manual&explain=cost"); w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("the cost of an answer may be kept: %v", w.Header())
	}
}
