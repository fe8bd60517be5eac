package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/access"
	"github.com/bucketsearch/bucketsearch/functions/query/api"
	"github.com/bucketsearch/bucketsearch/functions/query/engine/enginetest"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

// newStore returns a bucket with the given pages, and the API that answers from it.
func newStore(t testing.TB, pages ...querytest.Page) (*querytest.Store, http.Handler) {
	s := querytest.NewStore(t, 2)
	s.Publish(pages...)
	e := enginetest.New(s, s.Bucket, t.Output())
	return s, api.Handler(e, &access.Guard{Settings: e.Settings, Now: s.Clock.Now})
}

// get sends a GET request, and decodes the JSON of the answer, which must have the given status.
func get[T any](t testing.TB, h http.Handler, target string, status int) (value T) {
	t.Helper()
	return decode[T](t, querytest.Ask(h, "GET", target), target, status)
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

func decode[T any](t testing.TB, w *httptest.ResponseRecorder, target string, status int) (value T) {
	t.Helper()
	want := "application/json"
	if status >= 400 {
		want = "application/problem+json"
	}
	if w.Code != status || w.Header().Get("Content-Type") != want {
		t.Fatalf("%s: %d %s %s, want %d", target, w.Code, w.Header().Get("Content-Type"), w.Body, status)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &value); err != nil {
		t.Fatalf("%s: %v in %s", target, err, w.Body)
	}
	return value
}
