package query

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// TestModelsNeedKeys checks that /mcp needs a key exactly if the API does. The key must have the scopes for
// searching and for reading pages.
func TestModelsNeedKeys(t *testing.T) {
	s := newStore(t, 1)
	h := s.serve()
	ask := func(key string) int {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("X-API-Key", key)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	if got := ask(""); got != http.StatusOK {
		t.Errorf("without keys: %d", got)
	}
	_, err := control.Change(t.Context(), s.Bucket, func(d *control.Document) bool {
		s.Check(d.AddKey(control.NewKey("both", "both secrets", []string{control.Search, control.Page}, 0, s.Clock.Now())))
		s.Check(d.AddKey(control.NewKey("one", "one secret", []string{control.Search}, 0, s.Clock.Now())))
		return true
	})
	s.Check(err)
	s.Clock.Advance(time.Hour)
	for key, want := range map[string]int{"": http.StatusUnauthorized, "wrong": http.StatusUnauthorized, "one secret": http.StatusForbidden, "both secrets": http.StatusOK} {
		if got := ask(key); got != want {
			t.Errorf("with the key %q: %d, want %d", key, got, want)
		}
	}
}
