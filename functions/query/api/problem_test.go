package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/api"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

func TestProblems(t *testing.T) {
	_, h := newStore(t, harbour)
	for _, test := range []struct {
		target    string
		status    int
		parameter string
		detail    string
	}{
		{"/v1/search", 400, "q", "The query is missing; ask like /v1/search?q=words."},
		{"/v1/search?q=a&form=20", 400, "form", `There is no parameter "form"; did you mean from?`},
		{"/v1/search?q=a&Site=b", 400, "Site", `There is no parameter "Site"; did you mean site?`},
		{"/v1/search?q=a&colour=red", 400, "colour", `There is no parameter "colour"; there are q, n, from,`},
		{"/v1/search?q=a&n=0", 400, "n", `n is "0"; write a whole number from 1 to 100.`},
		{"/v1/search?q=a&after=yesterday", 400, "after", `after is "yesterday"; write a date`},
		{"/v1/search?q=a&explain=all", 400, "explain", `explain is "all"; write score or cost.`},
		{"/v1/search?q=a&fold=page", 400, "fold", `fold is "page"; write site.`},
		{"/v1/search?q=a&across=german", 400, "across", `german`},
		{"/v1/search?q=a&highlight=bold", 400, "highlight", `highlight is "bold"; write html, or leave it out.`},
		{"/v1/search?q=a&format=xml", 400, "format", `format is "xml"; write json, ndjson, atom or rss.`},
		{"/v1/search?q=a&facet=size", 400, "", `cannot count by "size"`},
		{"/v1/search?q=a&sort=size", 400, "sort", `sort is "size"; write date.`},
		{"/v1/search?q=100%", 400, "", "a percent sign is written %25"},
		{"/v1/facets?q=a&n=5", 400, "n", `There is no parameter "n"; there are q, site,`},
		{"/v1/facets?q=a&explain=score", 400, "explain", "Counts have no scores"},
		{"/v1/page", 400, "url", "ask like /v1/page?url=https://example.org/."},
		{"/v1/page?url=file:///etc/passwd", 400, "url", "is no web address"},
		{"/v1/page?url=https://example.org/&format=pdf", 400, "format", `format is "pdf"; write html, text, markdown or json.`},
		{"/v1/page?url=https://example.org/absent", 404, "", "No copy of https://example.org/absent is stored."},
		{"/v1/multi", 405, "", "There is no GET at /v1/multi; ask by POST."},
		{"/v1/nowhere", 404, "", "/v1/ lists the paths"},
	} {
		p := get[api.Problem](t, h, test.target, test.status)
		if !strings.Contains(p.Detail, test.detail) {
			t.Errorf("%.60s: %q, want %q", test.target, p.Detail, test.detail)
		}
		want := api.Problem{Type: "about:blank", Title: http.StatusText(test.status), Status: test.status, Detail: p.Detail, Parameter: test.parameter}
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("%.60s (-want +got):\n%s", test.target, diff)
		}
	}
	if w := querytest.Ask(h, "DELETE", "/v1/search?q=a"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("DELETE: %d %v", w.Code, w.Header())
	}
	if w := querytest.Ask(h, "HEAD", "/v1/search?q=hafen"); w.Code != http.StatusOK || w.Body.Len() > 0 || w.Header().Get("ETag") == "" {
		t.Errorf("HEAD: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if p := get[api.Problem](t, h, "/search?q=", http.StatusBadRequest); p.Error != p.Detail {
		t.Errorf("at the alias: %+v", p)
	}
}

func TestPage(t *testing.T) {
	_, h := newStore(t, harbour)
	page := get[map[string]any](t, h, "/v1/page?url="+harbour.URL, http.StatusOK)
	if page["url"] != harbour.URL || page["parts"] == nil {
		t.Errorf("%v", page)
	}
	for format, want := range map[string]struct{ media, content string }{
		"text":     {"text/plain; charset=utf-8", "Der Hafen"},
		"markdown": {"text/markdown; charset=utf-8", "# Der Hafen"},
		"html":     {"text/html", harbour.Data},
	} {
		w := querytest.Ask(h, "GET", "/v1/page?format="+format+"&url="+harbour.URL)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != want.media || !strings.Contains(w.Body.String(), want.content) {
			t.Errorf("%s: %d %v %s", format, w.Code, w.Header(), w.Body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "sandbox;") {
			t.Errorf("%s has the policy %q", format, policy)
		}
	}
}
