package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/api"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestDescribedMembers checks that openapi.json describes each member of what the API writes, and no
// other.
func TestDescribedMembers(t *testing.T) {
	s := readSpec(t)
	seen := map[string]bool{"Searches": true, "Mark": true}
	for name, of := range map[string]reflect.Type{
		"Answer": reflect.TypeFor[api.Answer](), "Answers": reflect.TypeFor[api.Answers](), "Suggestions": reflect.TypeFor[api.Suggestions](), "Problem": reflect.TypeFor[api.Problem](), "Page": reflect.TypeFor[structured.Page](),
	} {
		s.described(t, of, name, seen)
	}
	for name := range s.Components.Schemas {
		if !seen[name] {
			t.Errorf("nothing that the API writes is a %s", name)
		}
	}
}

// TestDescribedParameters checks that openapi.json describes the parameters of each path, and no
// other: the API takes what is described, and refuses what is not.
func TestDescribedParameters(t *testing.T) {
	s := readSpec(t)
	_, h := newStore(t, harbour)
	described := s.parametersOf("/v1/search", "get")
	want := append([]string{"format", "highlight"}, request.SearchParameters...)
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(described))); diff != "" {
		t.Errorf("parameters of /v1/search (-taken +described):\n%s", diff)
	}
	for path, operations := range s.Paths {
		if operations["get"].Responses == nil {
			continue
		}
		own := s.parametersOf(path, "get")
		for _, name := range append(slices.Sorted(maps.Keys(s.Components.Parameters)), "format", "url") {
			target := path + "?" + url.Values{name: {"x"}}.Encode()
			answer := get[map[string]any](t, h, target, statusOf(h, target))
			detail, _ := answer["detail"].(string)
			if known := !strings.Contains(detail, "There is no parameter"); known != (own[name] != nil) {
				t.Errorf("%s: %s is described: %v, but the API says %q", path, name, own[name] != nil, detail)
			}
		}
	}
}

func statusOf(h http.Handler, target string) int { return querytest.Ask(h, "GET", target).Code }

// TestDescribedValues checks each parameter for which openapi.json has bounds or a list of values: the API
// must accept the described values, and refuse others.
func TestDescribedValues(t *testing.T) {
	s := readSpec(t)
	_, h := newStore(t, harbour)
	checked := 0
	for path, required := range map[string]url.Values{"/v1/search": {"q": {"a"}, "n": {"1"}}, "/v1/suggest": {"q": {"a"}}, "/v1/facets": {"q": {"a"}}, "/v1/page": {"url": {harbour.URL}}} {
		try := func(name, value string, want int) {
			t.Helper()
			checked++
			values := maps.Clone(required)
			values[name] = []string{value}
			target := path + "?" + values.Encode()
			if got := statusOf(h, target); got != want {
				t.Errorf("%s: %d, want %d", target, got, want)
			}
		}
		for name, p := range s.parametersOf(path, "get") {
			rules := p["schema"].(map[string]any)
			if items, isList := rules["items"].(map[string]any); isList {
				rules = items
			}
			if values, listed := rules["enum"].([]any); listed {
				for _, value := range values {
					try(name, value.(string), http.StatusOK)
				}
				try(name, "nonsense", http.StatusBadRequest)
			}
			for keyword, outside := range map[string]int{"minimum": -1, "maximum": 1} {
				if bound, found := rules[keyword].(float64); found {
					try(name, strconv.Itoa(int(bound)), http.StatusOK)
					try(name, strconv.Itoa(int(bound)+outside), http.StatusBadRequest)
				}
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d values were tried", checked)
	}
}

// TestDescribedAnswers sends requests of all kinds, and checks that each answer matches the schema that
// openapi.json has for its path, status and media type.
func TestDescribedAnswers(t *testing.T) {
	s := readSpec(t)
	pages := append(querytest.Manual(12), harbour, querytest.Page{
		URL: "https://example.org/gallery", MIME: "text/html", Title: "Gallery", Body: "Pictures of ships.", Lang: "en",
		Data:   `<h1>Gallery</h1><p>Ships <a href="/a">here</a></p><ul><li>one</li></ul><blockquote><p>said</p></blockquote><pre><code class="language-go">x</code></pre><table><tr><td>a</td></tr></table><img src="/ship.png" alt="A ship">`,
		Images: []segment.Image{{URL: "https://example.org/ship.png", Alt: "A ship", Caption: "A ship at sea"}},
	})
	_, h := newStore(t, pages...)
	requests := []string{
		"/v1/search?q=manual&facet=site&facet=lang&explain=score&explain=cost&from=5&n=5&after=2020-01-01&asof=2026-11-25&highlight=html",
		"/v1/search?q=ship&type=image", "/v1/search?q=nowhere", "/v1/search?q=manual&across=de,fr", "/v1/search?q=manual&fold=site&site=example0.org",
		"/v1/search?q=https://example.org/harbour", "/v1/search?q=manual&before=2020-01-01", "/v1/search?q=manual&sort=date", "/v1/search", "/v1/search?q=a&form=1", "/v1/search?q=a&n=0",
		"/v1/search?q=manula", "/v1/suggest?q=man", "/v1/suggest?q=man&format=opensearch", "/v1/suggest?q=man&n=0",
		"/v1/facets?q=manual", "/v1/facets?q=manual&explain=cost", "/v1/facets", "/v1/page?url=https://example.org/gallery", "/v1/page?url=https://example.org/absent", "/v1/page",
		"/v1/page?format=text&url=https://example.org/gallery", "/v1/page?format=html&url=https://example.org/gallery", "/v1/openapi.json", "/v1/openapi.json?a=b",
	}
	examples := 0
	for path, operations := range s.Paths {
		for _, example := range operations["get"].Examples {
			if !strings.HasPrefix(example.Request, path) {
				t.Errorf("%s has the example %s", path, example.Request)
			}
			if status := statusOf(h, example.Request); status != http.StatusOK && status != http.StatusNotFound {
				t.Errorf("the example %s is answered by %d", example.Request, status)
			}
			requests = append(requests, example.Request)
			examples++
		}
	}
	if examples < len(s.Paths)-1 {
		t.Errorf("only %d examples", examples)
	}
	for _, target := range requests {
		s.conforms(t, "GET", target, querytest.Ask(h, "GET", target))
	}
	multi := s.Paths["/v1/multi"]["post"].RequestBody.Content["application/json"]
	if err := s.check(multi.Schema, multi.Example, "example"); err != nil {
		t.Error(err)
	}
	body, err := json.Marshal(multi.Example)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{string(body), `{"searches": [{"q": "manual"}, {"q": ""}]}`, `{"searches": []}`, strings.Repeat(" ", 1<<17)} {
		s.conforms(t, "POST", "/v1/multi", post(h, "/v1/multi", body))
	}
}

// conforms checks an answer by its schema.
func (s *spec) conforms(t *testing.T, method, target string, w *httptest.ResponseRecorder) {
	t.Helper()
	path, _, _ := strings.Cut(target, "?")
	operation := s.Paths[path][strings.ToLower(method)]
	told, found := operation.Responses[strconv.Itoa(w.Code)]
	if !found {
		told = operation.Responses["default"]
	}
	if told.Ref != "" {
		told = s.Components.Responses[strings.TrimPrefix(told.Ref, "#/components/responses/")]
	}
	media, _, err := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	content, found := told.Content[media]
	if !found {
		content, found = told.Content["*/*"]
	}
	if !found {
		t.Errorf("%s: %d in %s is not described", target, w.Code, media)
		return
	}
	value := any(w.Body.String())
	if strings.HasSuffix(media, "json") && media != "application/x-ndjson" {
		if err := json.Unmarshal(w.Body.Bytes(), &value); err != nil {
			t.Fatalf("%s: %v", target, err)
		}
	}
	if err := s.check(content.Schema, value, fmt.Sprintf("%s: %d", target, w.Code)); err != nil {
		t.Error(err)
	}
}

// TestGuide checks that the page for people has all paths and parameters, the line for a search box on
// other sites, and no script.
func TestGuide(t *testing.T) {
	s := readSpec(t)
	_, h := newStore(t)
	w := querytest.Ask(h, "GET", "/v1/")
	page, err := goquery.NewDocumentFromReader(w.Body)
	if err != nil || w.Code != http.StatusOK || page.Find("script").Length() > 0 {
		t.Fatalf("%d %v", w.Code, err)
	}
	text := page.Text()
	if line := `<script src="http://example.com/search.js" defer></script>`; page.Find("code").FilterFunction(func(_ int, code *goquery.Selection) bool { return code.Text() == line }).Length() != 1 {
		t.Errorf("no code %s", line)
	}
	for path := range s.Paths {
		if !strings.Contains(text, path) {
			t.Errorf("no %s", path)
		}
		for name := range s.parametersOf(path, "get") {
			if page.Find("dt").FilterFunction(func(_ int, dt *goquery.Selection) bool { return dt.Text() == name }).Length() == 0 {
				t.Errorf("no parameter %s of %s", name, path)
			}
		}
	}
}
