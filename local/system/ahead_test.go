package system

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// TestOneConnection crawls a site without a delay. While a batch is stored, the next one is fetched
// already. All the same no two requests may be under way at once, and none may come before the time for which
// the site asks at its 150th page.
func TestOneConnection(t *testing.T) {
	t.Parallel()
	web := newSite(t, 600)
	var mu sync.Mutex // protects the fields below
	var rest time.Time
	underWay, early, crowded := 0, 0, 0
	guarded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if underWay++; underWay > 1 {
			crowded++
		}
		if time.Now().Before(rest) {
			early++
		}
		overloaded := r.URL.Path == "/150.html" && rest.IsZero()
		if overloaded {
			rest = time.Now().Add(time.Second)
		}
		mu.Unlock()
		if overloaded {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		} else {
			web.ServeHTTP(w, r)
		}
		mu.Lock()
		underWay--
		mu.Unlock()
	}))
	t.Cleanup(guarded.Close)
	s := open(t, options(t))
	if got := crawl(t, s, Plan{Seeds: seeds(guarded.URL + "/")}); got.Stored != 600 {
		t.Errorf("%d pages are stored, want 600", got.Stored)
	}
	if crowded > 0 || early > 0 || rest.IsZero() {
		t.Errorf("%d requests while another was under way, %d before the time that the site asked for", crowded, early)
	}
	mustVerify(t, s.Bucket)
}
