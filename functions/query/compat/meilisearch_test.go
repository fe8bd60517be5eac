package compat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// TestMeilisearch checks what parameters of Meilisearch find, and which members say how many there are.
func TestMeilisearch(t *testing.T) {
	_, h := newStore(t)
	for body, want := range map[string]map[string]any{
		`{"q": "hash", "limit": 1}`:                                                      {"limit": 1.0, "offset": 0.0, "estimatedTotalHits": 4.0, "hits": 1},
		`{"q": "hash", "limit": 3, "offset": 3}`:                                         {"limit": 3.0, "offset": 3.0, "estimatedTotalHits": 4.0, "hits": 1},
		`{"q": "hash", "hitsPerPage": 3, "page": 2}`:                                     {"hitsPerPage": 3.0, "page": 2.0, "totalPages": 2.0, "totalHits": 4.0, "hits": 1},
		`{"q": "hash", "page": 1}`:                                                       {"hitsPerPage": 20.0, "page": 1.0, "totalPages": 1.0, "totalHits": 4.0, "hits": 4},
		`{"q": "hash", "filter": "lang = en AND site = \"example.org\""}`:                {"estimatedTotalHits": 1.0, "hits": 1},
		`{"q": "hash", "filter": ["lang = en", ["site = a.org", "site = example.org"]]}`: {"estimatedTotalHits": 1.0, "hits": 1},
		`{"q": "hash", "filter": "lang NOT IN [en, fr]"}`:                                {"estimatedTotalHits": 1.0, "hits": 1},
		`{"q": "hash", "filter": "version = 5"}`:                                         {"estimatedTotalHits": 4.0, "hits": 4, "message": "The filter version = 5 has no meaning here, and was ignored."},
		`{"q": "hash", "sort": ["title:asc"], "distinct": "a"}`:                          {"hits": 4, "message": `The order "title:asc" is not known; there is date:desc. Here these parameters have no effect: distinct.`},
		`{"q": "hash", "facets": ["lang"]}`:                                              {"facetDistribution": map[string]any{"lang": map[string]any{"en": 3.0, "de": 1.0}}, "facetStats": map[string]any(nil)},
		`{}`:                                                                             {"query": "", "estimatedTotalHits": 4.0},
	} {
		answer := decode(t, post(h, single, body), 200)
		answer["hits"] = len(valuesAt(answer, "hits[].id"))
		for name, value := range want {
			if name != "facetStats" && !cmp.Equal(value, answer[name]) {
				t.Errorf("%s: %s is %v, want %v", body, name, answer[name], value)
			}
		}
	}
	newest := decode(t, post(h, single, `{"q": "hash", "sort": ["date:desc"], "limit": 2}`), 200)
	if diff := cmp.Diff([]any{"2026-10-21", "2026-09-21"}, valuesAt(newest, "hits[].date")); diff != "" {
		t.Error(diff)
	}
	got := decode(t, querytest.Ask(h, "GET", single+"?q=salt&attributesToHighlight=title,content&attributesToCrop=content&cropLength=3&cropMarker=%7E"), 200)
	if diff := cmp.Diff([]any{"~random <em>salt</em>, and~"}, valuesAt(got, "hits[]._formatted.content")); diff != "" {
		t.Error(diff)
	}
	if raw := decode(t, querytest.Ask(h, "GET", single+"?q=more"), 200); !strings.Contains(valuesAt(raw, "hits[].content")[0].(string), "<script>") {
		t.Errorf("without highlights, texts are not HTML: %v", raw)
	}
}

func TestMeilisearchState(t *testing.T) {
	_, h := newStore(t)
	if got := decode(t, querytest.Ask(h, "GET", "/compat/meilisearch/health"), 200); got["status"] != "available" {
		t.Errorf("%v", got)
	}
	if got := decode(t, querytest.Ask(h, "GET", "/compat/meilisearch/version"), 200); got["pkgVersion"] == nil {
		t.Errorf("%v", got)
	}
}

// TestMeilisearchErrors checks the form of errors.
func TestMeilisearchErrors(t *testing.T) {
	_, h := newStore(t)
	for body, want := range map[string]string{
		`{"q": ["a"]}`:          "invalid_search_q",
		`{"limit": "many"}`:     "invalid_search_limit",
		`{"filter": "lang = "}`: "invalid_search_filter",
		`{"filter": [["lang = en AND a = b", "c = d"]]}`: "invalid_search_filter",
		`{"facets": 1}`: "invalid_search_facets",
		`[]`:            "bad_request",
	} {
		answer := decode(t, post(h, single, body), 400)
		if message, _ := answer["message"].(string); answer["code"] != want || answer["type"] != "invalid_request" || answer["link"] != "" || message == "" {
			t.Errorf("%s: %v, want %s", body, answer, want)
		}
	}
	decode(t, post(h, multi, `{"queries": [{"indexUid": "a", "q": 1}]}`), 400)
	if answer := decode(t, post(h, multi, `{"queries": [{}], "federation": {}}`), 400); !strings.Contains(answer["message"].(string), "federated") {
		t.Errorf("%v", answer)
	}
}

// TestKeys checks that keys are accepted in the headers and parameters in which clients of Algolia and
// Meilisearch send them, that each of several searches counts as a request, and that browsers may send these
// headers.
func TestKeys(t *testing.T) {
	s, h := newStore(t)
	_, err := control.Change(t.Context(), s.Bucket, func(d *control.Document) bool {
		s.Check(d.AddKey(control.NewKey("front", "key", []string{control.Search}, 7, s.Clock.Now())))
		s.Check(d.AddKey(control.NewKey("reader", "other", []string{control.Page}, 7, s.Clock.Now())))
		return true
	})
	s.Check(err)
	s.Clock.Advance(time.Hour)
	for _, test := range []struct {
		target, body, header string
		status               int
	}{
		{query, `{"query": "hash"}`, "X-Algolia-API-Key: key", 200},
		{query + "?x-algolia-api-key=key", `{"query": "hash"}`, "Content-Type: text/plain", 200},
		{single, `{"q": "hash"}`, "Authorization: Bearer key", 200},
		{queries, `{"requests": [{"query": "hash"}, {"query": "hash"}, {"query": "hash"}, {"query": "hash"}]}`, "X-Algolia-API-Key: key", 200},
		{single, `{"q": "hash"}`, "Authorization: Bearer key", 429},
		{query, `{"query": "hash"}`, "X-Algolia-API-Key: wrong", 401},
		{query, `{"query": "hash"}`, "X-Algolia-API-Key: other", 403},
		{single, `{"q": "hash"}`, "Authorization: Bearer other", 403},
		{single, `{"q": "hash"}`, "Accept: */*", 401},
	} {
		if w := post(h, test.target, test.body, test.header); w.Code != test.status {
			t.Errorf("%s with %s: %d %s, want %d", test.target, test.header, w.Code, w.Body, test.status)
		}
	}
	for _, target := range []string{query, single} {
		w := querytest.Ask(h, "OPTIONS", "http://search.example.org"+target, "Origin: https://docs.example.com", "Access-Control-Request-Method: POST")
		headers := w.Header().Get("Access-Control-Allow-Headers")
		if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(headers, "X-Algolia-API-Key") || !strings.Contains(headers, "X-Meilisearch-Client") {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
		if open := querytest.Ask(h, "OPTIONS", "http://127.0.0.1"+target, "Origin: https://docs.example.com"); open.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: with keys, scripts of any page may ask: %v", target, open.Header())
		}
	}
}
