package system

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/leaf"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// TestSearcher serves searches of a bucket with credentials that may only read.
func TestSearcher(t *testing.T) {
	t.Parallel()
	s := open(t, options(t))
	writes := make(chan string, 100)
	readers := newProxy(t, s, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return true
		}
		writes <- r.Method + " " + r.URL.Path
		http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
		return false
	})
	searcher, err := NewSearcher(Options{S3: readers, Getenv: s.store.getenv}, PageOptions{}, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.RemoteAddr, r.Host = "127.0.0.1:1", "127.0.0.1"
		searcher.Page.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	if code, body := get("/healthz"); code != http.StatusOK {
		t.Errorf("healthz: %d %s", code, body)
	}
	crawl(t, s, Plan{Seeds: seeds(newSite(t, 5).URL)})
	for path, want := range map[string]string{
		"/readyz":                "Searches can be answered.",
		"/v1/search?q=number+3":  `"title":"Page 3"`,
		"/metrics":               `bucketsearch_requests_admitted_total{queue="quick"}`,
		"/search?q=number":       "Page 1",
		"/v1/search?q=nowhere+x": `"total":0`,
	} {
		code, body := get(path)
		if compact := strings.NewReplacer(`": `, `":`).Replace(body); code != http.StatusOK || !strings.Contains(compact, want) {
			t.Errorf("%s: %d, want %q:\n%.500s", path, code, want, body)
		}
	}
	if len(writes) > 0 {
		t.Errorf("a search has written: %s", <-writes)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	searcher.KeepSigns(ended) // returns, although the store refuses them
	select {
	case request := <-writes:
		if !strings.Contains(request, "/feedback/") {
			t.Errorf("vital signs were put by %s", request)
		}
	case <-time.After(time.Minute):
		t.Error("no vital signs were put")
	}
}

// TestSearcherWithoutABucket asks a server for its state while nothing is in the bucket.
func TestSearcherWithoutABucket(t *testing.T) {
	t.Parallel()
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	searcher, err := NewSearcher(Options{S3: nothing.URL + "/bucket", Getenv: Credentials("secret")}, PageOptions{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		w := httptest.NewRecorder()
		searcher.Page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestSearcherBeforePublishing searches a bucket into which nothing was published yet, as when servers start before the
// first collection.
func TestSearcherBeforePublishing(t *testing.T) {
	t.Parallel()
	bucket := memblob.New()
	page, err := PageOptions{}.handler(bucket, vitals.New(vitals.Options{Now: time.Now}), engine.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/readyz": "", "/search?q=fox": "Nothing is indexed yet", "/v1/search?q=fox": "Nothing is indexed yet", "/v1/suggest?q=fox": ""} {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d, want %q:\n%.500s", path, w.Code, want, w.Body)
		}
	}
}

// TestSearcherAsksLeaves searches a bucket by two servers, of which one asks the other to search. Without the other,
// it cannot answer. Both tell of this in their metrics.
func TestSearcherAsksLeaves(t *testing.T) {
	t.Parallel()
	s := open(t, options(t))
	crawl(t, s, Plan{Seeds: seeds(newSite(t, 5).URL)})
	newServer := func(urls string) *httptest.Server {
		leaves, err := leaf.Parse(urls, "0123456789abcdef")
		if err != nil {
			t.Fatal(err)
		}
		location := Options{S3: newProxy(t, s, func(http.ResponseWriter, *http.Request) bool { return true }), Getenv: s.store.getenv}
		searcher, err := NewSearcher(location, PageOptions{Leaves: leaves}, slog.New(slog.NewTextHandler(t.Output(), nil)))
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(searcher.Page)
		t.Cleanup(server.Close)
		return server
	}
	other := newServer("")
	home := newServer(other.URL)
	get := func(of *httptest.Server, path string) (status int, body string) {
		t.Helper()
		response, err := http.Get(of.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, strings.ReplaceAll(string(content), `": `, `":`)
	}
	const search = "/v1/search?q=number+3"
	if status, body := get(home, search); status != http.StatusOK || !strings.Contains(body, `"title":"Page 3"`) || strings.Contains(body, "partial") {
		t.Errorf("status %d: %.500s", status, body)
	}
	metric := func(of *httptest.Server, want string) {
		t.Helper()
		if _, body := get(of, "/metrics"); !strings.Contains(body, want+"\n") {
			t.Errorf("the metrics lack %s:\n%s", want, body)
		}
	}
	metric(home, fmt.Sprintf("bucketsearch_leaf_resting{leaf=%q} 0", other.URL))
	metric(other, `bucketsearch_invocations_total{function="leaf"} 2`)
	other.Close()
	for range 3 {
		if status, body := get(home, search); status != http.StatusServiceUnavailable {
			t.Errorf("without the other server: status %d: %.500s", status, body)
		}
	}
	metric(home, fmt.Sprintf("bucketsearch_leaf_resting{leaf=%q} 1", other.URL))
	if status, body := get(home, "/readyz"); status != http.StatusOK || !strings.Contains(body, "1 of the 1 servers") {
		t.Errorf("ready: status %d: %s", status, body)
	}
}
