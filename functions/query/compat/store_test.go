package compat_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/access"
	"github.com/bucketsearch/bucketsearch/functions/query/compat"
	"github.com/bucketsearch/bucketsearch/functions/query/engine/enginetest"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

const storing = "How passwords are stored. Iterations, the random salt, and the resulting password hash are stored. "

// pages are three pages of documentation of one site, and a page of another site. One title has HTML that
// would run a script if a front end showed the title as HTML.
var pages = []querytest.Page{
	{
		URL: "http://127.0.0.1/topics/passwords.html", MIME: "text/html", Data: "<p>", Lang: "en", Title: "Password management", Collections: []string{"docs"},
		Body: storing + "Password upgrading. When users log in, the password hash is stored again.", Headings: []string{"How passwords are stored", "Password upgrading"},
		Sections: []segment.Section{{Fragment: "storing", Heading: 0, Start: 0}, {Fragment: "upgrading", Heading: 1, Start: len(storing)}},
		Date:     querytest.Noon.AddDate(0, -2, 0),
	},
	{
		URL: "http://127.0.0.1/topics/xss.html", MIME: "text/html", Data: "<p>", Lang: "en", Title: `<img src=x onerror=alert(1)> hash`, Collections: []string{"docs"},
		Body: `A password hash in <script>alert("hash")</script> & more.`, Date: querytest.Noon.AddDate(0, -1, 0),
	},
	{
		URL: "http://127.0.0.1/de/hash.html", MIME: "text/html", Data: "<p>", Lang: "de", Title: "Der Hash", Collections: []string{"docs"},
		Body: "Das Passwort hat einen Hash.",
	},
	{
		URL: "https://blog.example.org/hash", MIME: "text/plain", Data: "hash", Lang: "en", Title: "A hash elsewhere", Collections: []string{"blog"},
		Body: "The password hash of a blog.",
	},
}

// newStore returns a bucket with pages, and the handler that answers from it.
func newStore(t testing.TB) (*querytest.Store, http.Handler) {
	s := querytest.NewStore(t, 2)
	s.Publish(pages...)
	e := enginetest.New(s, s.Bucket, t.Output())
	return s, compat.Handler(e, &access.Guard{Settings: e.Settings, Now: s.Clock.Now})
}

// post sends a POST request with a body. The parameter header has header lines such as "X-API-Key: a".
func post(h http.Handler, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// decode returns the JSON of an answer, which must have the given status.
func decode(t testing.TB, w *httptest.ResponseRecorder, status int) (value map[string]any) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("%d %s, want %d", w.Code, w.Body, status)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &value); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return value
}

const (
	query   = "/compat/algolia/1/indexes/docs/query"
	queries = "/compat/algolia/1/indexes/*/queries"
	multi   = "/compat/meilisearch/multi-search"
	single  = "/compat/meilisearch/indexes/docs/search"
)

// valuesAt returns all values at a path such as hits[].url within a value; [] stands for each element of a list.
func valuesAt(value any, path string) (values []any) {
	if path == "" {
		return []any{value}
	}
	name, rest, _ := strings.Cut(path, ".")
	name, each := strings.CutSuffix(name, "[]")
	members, _ := value.(map[string]any)
	member, found := members[name]
	if !found {
		return nil
	}
	if !each {
		return valuesAt(member, rest)
	}
	list, _ := member.([]any)
	for _, element := range list {
		values = append(values, valuesAt(element, rest)...)
	}
	return values
}
