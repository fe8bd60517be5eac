package compat_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// TestAlgoliaParameters checks what parameters of Algolia find, and what message says of them.
func TestAlgoliaParameters(t *testing.T) {
	_, h := newStore(t)
	const passwords, xss, german, blog = "/topics/passwords.html", "/topics/xss.html", "/de/hash.html", "/hash"
	for body, want := range map[string]struct {
		found   string // paths of the pages found
		message string // a part of it
	}{
		`{"query": "salt"}`: {passwords, ""},
		`{"params": "query=salt&hitsPerPage=5&facets=%5B%22lang%22%5D"}`:                           {passwords, ""},
		`{"params": "query=salt", "query": "blog"}`:                                                {blog, ""},
		`{"params": "query=42"}`:                                                                   {"", ""},
		`{"query": "hash", "filters": "lang:de"}`:                                                  {german, ""},
		`{"query": "hash", "filters": "NOT lang:en"}`:                                              {german, ""},
		`{"query": "hash", "filters": "(site:example.org OR site:example.com) AND lang:en"}`:       {blog, ""},
		`{"query": "hash", "facetFilters": ["language:en", ["site:example.org"], ["tag:a"]]}`:      {blog, "tag = a"},
		`{"query": "hash", "facetFilters": "lang:-en"}`:                                            {german, ""},
		`{"query": "hash", "facetFilters": ["type:text/plain"]}`:                                   {blog, ""},
		`{"query": "hash", "filters": "date >= 2026-10-21"}`:                                       {xss, "no date"},
		`{"query": "hash", "filters": "date > 2026-10-21", "numericFilters": ["a=1"]}`:             {"", "no effect: numericFilters"},
		`{"query": "hash", "filters": "date <= 2026-09-21"}`:                                       {passwords, "no date"},
		`{"query": "hash", "facetFilters": ["year:2026"], "filters": "site:127.0.0.1"}`:            {xss + " " + passwords, "no date"},
		`{"query": "hash", "facetFilters": [["year:2025"]]}`:                                       {"", "no date"},
		`{"query": "hash", "facetFilters": [["year:2025", "year:2026"], "lang:de"]}`:               {german, "year = 2025 OR year = 2026"},
		`{"query": "hash", "filters": "NOT year:2025 AND lang:de"}`:                                {german, "year != 2025"},
		`{"query": "hash", "filters": "year:2026 AND date > 2026-01-01 AND lang:de"}`:              {"", "date > 2026-01-01"},
		`{"query": "salt", "hitsPerPage": 5000, "facets": ["version"]}`:                            {passwords, "hitsPerPage is 100 at most. There is no facet \"version\""},
		`{"query": "hash", "page": 1000}`:                                                          {"", "Only the first 1000"},
		`{"query": "hash", "filters": "site:example.org AND site:127.0.0.1"}`:                      {blog, "site = 127.0.0.1"},
		`{"query": "hash", "filters": "site:example.org", "facetFilters": [["site:example.org"]]}`: {blog, ""},
	} {
		answer := decode(t, post(h, query, body), 200)
		var found []string
		for _, url := range valuesAt(answer, "hits[].url_without_anchor") {
			found = append(found, strings.TrimPrefix(strings.TrimPrefix(url.(string), "http://127.0.0.1"), "https://blog.example.org"))
		}
		if got := strings.Join(found, " "); got != want.found {
			t.Errorf("%s finds %s, want %s", body, got, want.found)
		}
		message, _ := answer["message"].(string)
		if !strings.Contains(message, want.message) || (want.message == "") != (message == "") && want.found != "" {
			t.Errorf("%s: message %q, want %q", body, message, want.message)
		}
	}
}

// TestEmptyQuery checks that an empty query finds all pages, the newest first.
func TestEmptyQuery(t *testing.T) {
	_, h := newStore(t)
	answer := decode(t, post(h, query, `{"query": "", "facets": ["lang", "year"]}`), 200)
	if answer["nbHits"] != 4.0 || valuesAt(answer, "hits[].date")[0] != "2026-10-21" {
		t.Errorf("%v", answer)
	}
	want := map[string]any{"lang": map[string]any{"en": 3.0, "de": 1.0}, "year": map[string]any{"2026": 2.0}}
	if diff := cmp.Diff(want, answer["facets"]); diff != "" {
		t.Error(diff)
	}
}

// TestSectionPages turns the pages of results with sections as records. It checks that they have all
// records, each once.
func TestSectionPages(t *testing.T) {
	_, h := newStore(t)
	ask := func(size, page int) map[string]any {
		body := fmt.Sprintf(`{"query": "password hash", "attributesToRetrieve": ["hierarchy.lvl0"], "hitsPerPage": %d, "page": %d}`, size, page)
		return decode(t, post(h, query, body), 200)
	}
	all := ask(100, 0)
	want := valuesAt(all, "hits[].objectID")
	if len(want) != 6 || all["nbHits"] != 6.0 || all["exhaustiveNbHits"] != true {
		t.Fatalf("%d records, nbHits %v, want 6: four pages and two sections", len(want), all["nbHits"])
	}
	var got []any
	for page := range 3 {
		got = append(got, valuesAt(ask(2, page), "hits[].objectID")...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in pages of two (-all +pages):\n%s", diff)
	}
}

// TestEscaping checks that front ends which show texts as HTML show no HTML of the pages.
func TestEscaping(t *testing.T) {
	_, h := newStore(t)
	docSearch := `"attributesToRetrieve": ["hierarchy.lvl1"], "highlightPreTag": "<mark>", "highlightPostTag": "</mark>"`
	for _, w := range []*httptest.ResponseRecorder{
		post(h, query, `{"query": "more hash", `+docSearch+`}`),
		post(h, single, `{"q": "more hash", "attributesToHighlight": ["*"], "attributesToCrop": ["content"], "cropMarker": "<i>"}`, "X-Meilisearch-Client: Meilisearch docs-searchbar.js"),
	} {
		answer := decode(t, w, 200)
		for _, path := range []string{
			"hits[].hierarchy.lvl1", "hits[].content", "hits[]._highlightResult.hierarchy.lvl1.value", "hits[]._snippetResult.content.value",
			"hits[].hierarchy_lvl1", "hits[]._formatted.hierarchy_lvl1", "hits[]._formatted.content",
		} {
			for _, value := range valuesAt(answer, path) {
				text, _ := value.(string)
				text = strings.NewReplacer("<mark>", "", "</mark>", "", "<em>", "", "</em>", "").Replace(text)
				if strings.ContainsAny(text, "<>") {
					t.Errorf("%s is %q", path, text)
				}
			}
		}
	}
	plain := decode(t, post(h, query, `{"query": "more", "highlightPreTag": "__a__", "highlightPostTag": "__/a__"}`), 200)
	if got := valuesAt(plain, "hits[]._highlightResult.content.value"); len(got) != 1 || got[0] != `A password hash in <script>alert("hash")</script> & __a__more__/a__.` {
		t.Errorf("InstantSearch, which escapes texts itself, gets %q", got)
	}
}

// TestIndexNames checks that an index name that is the name of a collection restricts the search to this
// collection, and that with any other name all pages are searched and each record has the name of its
// collection as lvl0.
func TestIndexNames(t *testing.T) {
	s, h := newStore(t)
	for _, name := range []string{"docs", "blog"} {
		c := collection.Collection{Name: name, HostConnections: 1, Agent: "test", Seeds: []collection.Seed{{URL: "https://example.org/", Scope: collection.Prefix}}}
		_, err := collection.Publish(t.Context(), s.Bucket, c)
		s.Check(err)
	}
	for name, want := range map[string]struct {
		places  map[any]int // number of records by their place
		message string
	}{
		"blog":           {map[any]int{"example.org": 1}, ""},
		"blog_date_desc": {map[any]int{"example.org": 1}, ""},
		"other":          {map[any]int{"blog": 1, "docs": 3}, `No collection has the name "other": all pages were searched.`},
	} {
		answer := decode(t, post(h, "/compat/algolia/1/indexes/"+name+"/query", `{"query": "hash"}`), 200)
		places := make(map[any]int)
		for _, place := range valuesAt(answer, "hits[].hierarchy.lvl0") {
			places[place]++
		}
		if message, _ := answer["message"].(string); message != want.message {
			t.Errorf("%s: message %q", name, message)
		}
		if diff := cmp.Diff(want.places, places); diff != "" {
			t.Errorf("%s: places (-want +got):\n%s", name, diff)
		}
	}
}

// TestAlgoliaErrors checks the form of errors, and that caps are kept.
func TestAlgoliaErrors(t *testing.T) {
	_, h := newStore(t)
	for _, test := range []struct {
		target, body string
		status       int
		message      string
	}{
		{query, `{`, 400, "JSON"},
		{query, `{"query": 1}`, 400, "query is 1; write a text."},
		{query, `{"hitsPerPage": -1}`, 400, "hitsPerPage is -1"},
		{query, `{"params": "query=%zz"}`, 400, "malformed"},
		{query, `{"filters": "lang:en AND"}`, 400, "filters cannot be read: it ends where an attribute"},
		{query, `{"type": "facet"}`, 400, "facets cannot be searched"},
		{query, `{"highlightPreTag": "` + strings.Repeat("a", 201) + `"}`, 400, "200 bytes"},
		{queries, `{"requests": []}`, 400, "0 searches"},
		{queries, `{"requests": [` + strings.Repeat(`{},`, 10) + `{}]}`, 400, "11 searches"},
		{queries, `{"requests": [{"query": "` + strings.Repeat("a", 1<<16) + `"}]}`, 413, "too long"},
		{"/compat/algolia/1/indexes/docs/settings", ``, 404, "nothing at this path"},
	} {
		answer := decode(t, post(h, test.target, test.body), test.status)
		message, _ := answer["message"].(string)
		if answer["status"] != float64(test.status) || !strings.Contains(message, test.message) {
			t.Errorf("%s %.60s: %v, want %q", test.target, test.body, answer, test.message)
		}
	}
	if w := querytest.Ask(h, "GET", query); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" {
		t.Errorf("GET: %d %v", w.Code, w.Header())
	}
}
