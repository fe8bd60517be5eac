package limit

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestClientOf(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, test := range []struct{ remote, forwarded, want string }{
		{"192.0.2.1:1234", "", "192.0.2.1"},
		{"192.0.2.1", "", "192.0.2.1"}, // as Lambda writes it
		{"[2001:db8:1:2:3:4:5:6]:80", "", "2001:db8:1:2::"},
		{"[::ffff:192.0.2.1]:80", "", "192.0.2.1"},
		{"[::1]:80", "", "::1"},
		{"nonsense", "", "invalid IP"},
		{"192.0.2.1:1234", "198.51.100.7", "192.0.2.1"}, // no proxy that is trusted
		{"10.1.2.3:1234", "", "10.1.2.3"},
		{"10.1.2.3:1234", "198.51.100.7", "198.51.100.7"},
		{"10.1.2.3:1234", "203.0.113.9, 198.51.100.7, 10.4.4.4", "198.51.100.7"}, // the first may be made up
		{"10.1.2.3:1234", "nonsense", "invalid IP"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = test.remote
		if test.forwarded != "" {
			r.Header.Set("X-Forwarded-For", test.forwarded)
		}
		if got := clientOf(r, proxies).String(); got != test.want {
			t.Errorf("from %s for %q: %s, want %s", test.remote, test.forwarded, got, test.want)
		}
	}
}

// limited returns a Handler with room for one request at a time.
func limited(next http.HandlerFunc) *Handler {
	return New(next, Options{Now: time.Now, After: time.After, AtOnce: 1, Rate: 1})
}

func TestRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := limited(func(http.ResponseWriter, *http.Request) {})
		ask := func(path, accept string) *http.Response {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header.Set("Accept", accept)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Result()
		}
		for range 3 {
			if status := ask("/", "").StatusCode; status != http.StatusOK {
				t.Fatalf("a request that is admitted has the status %d", status)
			}
		}
		const sentence = "You have asked too often; try again in 1 s."
		for path, media := range map[string]string{
			"/v1/search?q=a": "application/problem+json", "/search?q=a": "text/html; charset=utf-8", "/style.css": "text/html; charset=utf-8",
		} {
			response := ask(path, "text/html")
			content, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{response.Status, response.Header.Get("Retry-After"), response.Header.Get("Content-Type")}
			if diff := cmp.Diff([]string{"429 Too Many Requests", "1", media}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
			var problem struct{ Detail string }
			if strings.HasSuffix(media, "json") {
				if err := json.Unmarshal(content, &problem); err != nil || problem.Detail != sentence {
					t.Errorf("%s: %v, %s", path, err, content)
				}
			} else if !strings.Contains(string(content), sentence) {
				t.Errorf("%s: %s", path, content)
			}
		}
		if status := ask("/healthz", "").StatusCode; status != http.StatusOK {
			t.Errorf("the health path has the status %d", status)
		}
	})
}

func TestLongBody(t *testing.T) {
	h := limited(func(_ http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); n != MaxBody || err != nil {
			t.Errorf("the handler read %d bytes: %v", n, err)
		}
	})
	for size, want := range map[int]int{MaxBody: http.StatusOK, MaxBody + 1: http.StatusRequestEntityTooLarge} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/multi", strings.NewReader(strings.Repeat("a", size))))
		if w.Code != want {
			t.Errorf("a body of %d bytes is answered by %d, want %d", size, w.Code, want)
		}
	}
}

// quickCounts returns the counts of the queue of quick requests, in which every request begins.
func quickCounts(h *Handler) Counts {
	all, _ := h.Counts()
	return all
}

// stalled is a ResponseWriter whose client does not read until the channel is closed.
type stalled struct {
	*httptest.ResponseRecorder
	reads chan struct{}
}

func (s stalled) Write(content []byte) (int, error) {
	<-s.reads
	return s.ResponseRecorder.Write(content)
}

func TestSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := limited(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "an answer") })
		h.quick.options.Rate = 0
		reads := make(chan struct{})
		slow := make([]stalled, MaxSending)
		for i := range slow {
			slow[i] = stalled{httptest.NewRecorder(), reads}
			go h.ServeHTTP(slow[i], httptest.NewRequest(http.MethodGet, "/", nil))
			synctest.Wait()
		}
		status := func(from string) int {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = from
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Code
		}
		if got := status("198.51.100.7:1"); got != http.StatusOK {
			t.Errorf("another client is answered by %d while slow readers are sent their answers", got)
		}
		if got := status("192.0.2.1:1"); got != http.StatusTooManyRequests {
			t.Errorf("a client that does not read is answered by %d", got)
		}
		close(reads)
		synctest.Wait()
		for _, s := range slow {
			if s.Body.String() != "an answer" {
				t.Errorf("a slow reader got %q", s.Body)
			}
		}
		if got := status("192.0.2.1:1"); got != http.StatusOK {
			t.Errorf("a client that has read is answered by %d", got)
		}
	})
}

func TestLongAnswer(t *testing.T) {
	piece := strings.Repeat("a", maxHeld/2+1)
	var h *Handler
	h = limited(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		for i, working := range []int{1, 0, 0} {
			_, _ = io.WriteString(w, piece)
			if got := quickCounts(h).Working; got != working {
				t.Errorf("%d requests are worked on after piece %d of an answer, want %d", got, i, working)
			}
		}
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusTeapot || w.Body.String() != strings.Repeat(piece, 3) {
		t.Errorf("status %d, %d bytes", w.Code, w.Body.Len())
	}
}
