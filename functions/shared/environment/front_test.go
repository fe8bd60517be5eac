package environment

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// With a secret, only requests that have it are answered: as requests of the domain that they name. The secret is not
// passed on. Without a secret, nobody can name a domain.
func TestOnlyFromFront(t *testing.T) {
	const secret = "0123456789abcdef"
	for _, test := range []struct {
		secret, sent string
		want         int
	}{
		{"", "", http.StatusOK},
		{secret, secret, http.StatusOK},
		{secret, "", http.StatusForbidden},
		{secret, "0123456789abcdeg", http.StatusForbidden},
		{secret, secret + "0", http.StatusForbidden},
	} {
		h := onlyFromFront(test.secret, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if passed := r.Header.Get(frontHeader); passed != "" {
				t.Errorf("the secret %q was passed on", passed)
			}
			if want := map[bool]string{true: "search.example.org", false: "example.com"}[test.secret != ""]; r.Host != want {
				t.Errorf("secret %q: host %q, want %q", test.secret, r.Host, want)
			}
		}))
		r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
		r.Header.Set(frontHost, "search.example.org")
		if test.sent != "" {
			r.Header.Set(frontHeader, test.sent)
		}
		if h.ServeHTTP(w, r); w.Code != test.want {
			t.Errorf("secret %q, sent %q: status %d, want %d", test.secret, test.sent, w.Code, test.want)
		}
	}
}
