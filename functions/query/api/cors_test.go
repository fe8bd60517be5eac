package api_test

import (
	"net/http"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
)

// TestSharing checks which web pages may read answers. A page of the web must not search a machine or
// a local network through the browser of somebody there.
func TestSharing(t *testing.T) {
	_, h := newStore(t, harbour)
	for _, test := range []struct {
		host, origin string
		shared       bool
	}{
		{"search.example.org", "https://other.example.com", true},
		{"search.example.org", "", true},
		{"search.example.org", "null", true},
		{"127.0.0.1:8080", "https://other.example.com", false},
		{"127.0.0.1:8080", "null", false},
		{"127.0.0.1:8080", "", false},
		{"127.0.0.1:8080", "http://localhost.example.com", false},
		{"127.0.0.1:8080", "http://localhost:3000", true},
		{"localhost:8080", "http://[::1]:3000", true},
		{"192.168.1.5:8080", "https://other.example.com", false},
		{"intranet", "https://other.example.com", false},
	} {
		for _, path := range []string{"/v1/search?q=hafen", "/v1/search?q=hafen&n=0", "/v1/page?format=html&url=" + harbour.URL, "/v1/nowhere"} {
			w := querytest.Ask(h, "GET", "http://"+test.host+path, "Origin: "+test.origin)
			want := ""
			if test.shared {
				want = "*"
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s of %s for %s: %q", path, test.host, test.origin, got)
			}
			if w.Header().Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s of %s for %s: with credentials", path, test.host, test.origin)
			}
		}
		w := querytest.Ask(h, "OPTIONS", "http://"+test.host+"/v1/multi", "Origin: "+test.origin, "Access-Control-Request-Method: POST")
		methods := w.Header().Get("Access-Control-Allow-Methods")
		if w.Code != http.StatusNoContent || w.Header().Get("Allow") != "POST, OPTIONS" || (methods == "POST, OPTIONS") != test.shared {
			t.Errorf("preflight of %s for %s: %d %v", test.host, test.origin, w.Code, w.Header())
		}
	}
	if w := querytest.Ask(h, "GET", "http://search.example.org/search?q=hafen", "Origin: https://other.example.com"); w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("the alias is shared: %v", w.Header())
	}
}
