package access

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

// newGuard returns a guard of a bucket with the given keys. The secret of a key is its name and "-secret".
func newGuard(t *testing.T, keys ...control.Key) (*Guard, *querytest.Store) {
	t.Helper()
	s := querytest.NewStore(t, 1)
	_, err := control.Change(t.Context(), s.Bucket, func(d *control.Document) bool {
		for _, k := range keys {
			s.Check(d.AddKey(control.NewKey(k.Name, k.Name+"-secret", k.Scopes, k.PerMinute, s.Clock.Now())))
		}
		return true
	})
	s.Check(err)
	return &Guard{Settings: s.Settings(s.Bucket), Now: s.Clock.Now}, s
}

func asking(headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "/v1/search?q=a", nil)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	return r
}

// statusOf returns the HTTP status of a guard's answer: 200 if it is nil.
func statusOf(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return http.StatusOK
	}
	f, is := errors.AsType[request.Failure](err)
	if !is {
		t.Fatal(err)
	}
	return f.Status
}

func TestAdmit(t *testing.T) {
	searcher := control.Key{Name: "searcher", Scopes: []string{control.Search}}
	reader := control.Key{Name: "reader", Scopes: []string{control.Page}}
	watcher := control.Key{Name: "watcher", Scopes: []string{control.Metrics}}
	for _, test := range []struct {
		name   string
		keys   []control.Key
		header string
		scope  string
		want   int
	}{
		{"without keys", nil, "", control.Search, 200},
		{"without keys, with one that does not exist", nil, "X-API-Key: a", control.Search, 200},
		{"only keys for other things", []control.Key{watcher}, "", control.Search, 200},
		{"no key", []control.Key{searcher}, "", control.Search, 401},
		{"no key for pages, where only searches need one", []control.Key{searcher}, "", control.Page, 401},
		{"a wrong key", []control.Key{searcher}, "X-API-Key: searcher-secre", control.Search, 401},
		{"the name in place of the key", []control.Key{searcher}, "X-API-Key: searcher", control.Search, 401},
		{"the hash in place of the key", []control.Key{searcher}, "X-API-Key: " + control.NewKey("a", "searcher-secret", nil, 0, time.Time{}).Sum, control.Search, 401},
		{"the key", []control.Key{searcher, reader}, "X-API-Key: searcher-secret", control.Search, 200},
		{"the key as a bearer token", []control.Key{searcher, reader}, "Authorization: bearer searcher-secret", control.Search, 200},
		{"the key by another scheme", []control.Key{searcher, reader}, "Authorization: Basic searcher-secret", control.Search, 401},
		{"the key of another scope", []control.Key{searcher, reader}, "X-API-Key: reader-secret", control.Search, 403},
		{"the key of the metrics", []control.Key{searcher, watcher}, "X-API-Key: watcher-secret", control.Search, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, _ := newGuard(t, test.keys...)
			err := g.Admit(asking(test.header), test.scope)
			if got := statusOf(t, err); got != test.want {
				t.Errorf("%d (%v), want %d", got, err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("a key is shown: %v", err)
			}
		})
	}
}

// TestLimit checks that a request is refused when the key's requests are used up, that the error says how
// long to wait, and that other keys are not affected.
func TestLimit(t *testing.T) {
	g, s := newGuard(t, control.Key{Name: "slow", Scopes: []string{control.Search}, PerMinute: 6}, control.Key{Name: "fast", Scopes: []string{control.Search}})
	slow := asking("X-API-Key: slow-secret")
	ask := func(want, retry int) {
		t.Helper()
		err := g.Admit(slow, control.Search)
		f, _ := errors.AsType[request.Failure](err)
		if statusOf(t, err) != want || f.Retry != retry {
			t.Errorf("%v, again in %d s; want %d, in %d s", err, f.Retry, want, retry)
		}
	}
	for range 6 {
		ask(200, 0)
	}
	ask(429, 10)
	s.Clock.Advance(4 * time.Second)
	ask(429, 6)
	if err := g.Admit(asking("X-API-Key: fast-secret"), control.Search); err != nil {
		t.Error(err)
	}
	s.Clock.Advance(6 * time.Second)
	ask(200, 0)
	ask(429, 10)
	s.Clock.Advance(time.Hour) // no more than those of a minute gather
	for range 5 {
		ask(200, 0)
	}
	g.Count(slow, 3) // it has one left, so it must wait for three
	ask(429, 30)
}

// TestLostKeys checks that the API refuses all requests while the stored keys are damaged, and also after a
// repair that could not restore them, until the operator sets keys again.
func TestLostKeys(t *testing.T) {
	g, s := newGuard(t, control.Key{Name: "a", Scopes: []string{control.Search}})
	for _, key := range []string{layout.ControlKey(1), layout.CopyKey(layout.ControlKey(1))} {
		s.Check(s.Bucket.Replace(t.Context(), key, []byte("{")))
	}
	s.Check(numbered.Refresh(t.Context(), s.Bucket)) // else the keys would be read from the hint of the settings
	refused := func(when string) {
		t.Helper()
		s.Clock.Advance(time.Hour)
		if got := statusOf(t, g.Admit(asking("X-API-Key: a-secret"), control.Search)); got != http.StatusServiceUnavailable {
			t.Errorf("%s: %d", when, got)
		}
	}
	refused("damaged")
	if _, err := control.Republish(t.Context(), s.Bucket, s.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	refused("repaired")
	_, err := control.Change(t.Context(), s.Bucket, func(d *control.Document) bool {
		s.Check(d.AddKey(control.NewKey("b", "b-secret", []string{control.Search}, 0, s.Clock.Now())))
		return true
	})
	s.Check(err)
	s.Clock.Advance(time.Hour)
	if a, b := statusOf(t, g.Admit(asking("X-API-Key: a-secret"), control.Search)), statusOf(t, g.Admit(asking("X-API-Key: b-secret"), control.Search)); a != 401 || b != 200 {
		t.Errorf("with new keys: the old one %d, the new one %d", a, b)
	}
}

func TestPrivate(t *testing.T) {
	g, _ := newGuard(t, control.Key{Name: "watcher", Scopes: []string{control.Metrics}}, control.Key{Name: "searcher", Scopes: []string{control.Search}})
	for _, test := range []struct {
		from, host, header string
		want               int
	}{
		{"127.0.0.1:999", "127.0.0.1:8080", "", 200},
		{"[::1]:999", "localhost:8080", "", 200},
		{"127.0.0.1:999", "evil.example:8080", "", 401},
		{"127.0.0.1:999", "127.0.0.1:8080", "X-Forwarded-For: 192.0.2.1", 401},
		{"127.0.0.1:999", "127.0.0.1:8080", "Forwarded: for=192.0.2.1", 401},
		{"192.0.2.1:999", "127.0.0.1:8080", "", 401},
		{"192.0.2.1:999", "search.example.org", "X-API-Key: watcher-secret", 200},
		{"192.0.2.1:999", "search.example.org", "X-API-Key: searcher-secret", 403},
		{"192.0.2.1:999", "search.example.org", "X-API-Key: x", 401},
	} {
		r := asking(test.header)
		r.RemoteAddr, r.Host = test.from, test.host
		if got := statusOf(t, g.Private(r, control.Metrics)); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}
