package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/api"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// TestKeys checks each path with and without a key. With keys, caches must not give the answer for
// one client to others, and scripts of any web page may ask: without a key, they learn nothing.
func TestKeys(t *testing.T) {
	s, h := newStore(t, harbour)
	_, err := control.Change(t.Context(), s.Bucket, func(d *control.Document) bool {
		s.Check(d.AddKey(control.NewKey("a", "key", []string{control.Search}, 12, s.Clock.Now())))
		return true
	})
	s.Check(err)
	s.Clock.Advance(time.Hour)
	for target, want := range map[string]struct{ without, with int }{
		"/v1/search?q=hafen":           {401, 200},
		"/search?q=hafen":              {401, 200},
		"/v1/search":                   {401, 400},
		"/v1/facets?q=hafen":           {401, 200},
		"/v1/page?url=" + harbour.URL:  {401, 403},
		"/v1/":                         {200, 200},
		"/v1/openapi.json":             {200, 200},
		"/v1/search?q=hafen&n=1&key=a": {401, 400},
	} {
		without := querytest.Ask(h, "GET", "http://127.0.0.1"+target, "Origin: https://other.example.com")
		with := querytest.Ask(h, "GET", "http://127.0.0.1"+target, "X-API-Key: key", "Origin: https://other.example.com")
		if without.Code != want.without || with.Code != want.with {
			t.Errorf("%s: %d without a key, %d with it; want %+v", target, without.Code, with.Code, want)
		}
		if (without.Header().Get("WWW-Authenticate") != "") != (without.Code == http.StatusUnauthorized) {
			t.Errorf("%s: %v", target, without.Header())
		}
		if cache := with.Header().Get("Cache-Control"); want.with != want.without && want.with == 200 && cache != "private, max-age=10" {
			t.Errorf("%s: Cache-Control %q", target, cache)
		}
		if shared := with.Header().Get("Access-Control-Allow-Origin"); (shared == "*") != (target != "/search?q=hafen") {
			t.Errorf("%s: shared with %q", target, shared)
		}
	}
	if w := querytest.Ask(h, "OPTIONS", "/v1/search"); w.Code != http.StatusNoContent {
		t.Errorf("a preflight needs a key: %d", w.Code)
	}
	decode[api.Problem](t, post(h, "/v1/multi", `{"searches": [{"q": "a"}]}`), "/v1/multi", http.StatusUnauthorized)
}

// TestCountedSearches checks that each of several searches in one request counts as one.
func TestCountedSearches(t *testing.T) {
	s, h := newStore(t, harbour)
	_, err := control.Change(t.Context(), s.Bucket, func(d *control.Document) bool {
		s.Check(d.AddKey(control.NewKey("a", "key", []string{control.Search}, 3, s.Clock.Now())))
		return true
	})
	s.Check(err)
	s.Clock.Advance(time.Hour)
	for i, want := range []int{200, 429} {
		if w := post(h, "/v1/multi", `{"searches": [{"q": "hafen"}, {"q": "hafen"}, {"q": "hafen"}]}`, "X-API-Key: key"); w.Code != want {
			t.Errorf("request %d: %d, want %d", i, w.Code, want)
		}
	}
	if w := querytest.Ask(h, "GET", "/v1/search?q=hafen", "X-API-Key: key"); w.Code != 429 || w.Header().Get("Retry-After") != "20" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}
