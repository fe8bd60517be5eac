package system

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/bucketsearch/bucketsearch/strategy/control"
)

// TestPausedCrawlEnds begins a crawl that is paused. If Wait is called with impatient set, it must
// return ErrPaused and the reason of the pause. When the pause is over, the crawl must run to its
// end.
func TestPausedCrawlEnds(t *testing.T) {
	t.Parallel()
	web := newSite(t, 30)
	o := options(t)
	s := open(t, o)
	pause := control.Pause{By: control.Operator, Reason: "the site is being moved"}
	change := func(p *control.Pause) {
		t.Helper()
		_, err := control.Change(t.Context(), s.Bucket, func(d *control.Document) bool { d.Pause = p; return true })
		if err != nil {
			t.Fatal(err)
		}
	}
	change(&pause)
	begin(t, s, Plan{Seeds: seeds(web.URL + "/")})
	err := s.Wait(t.Context(), true, func(Progress, error) {})
	if !errors.Is(err, ErrPaused) || !strings.Contains(err.Error(), pause.Reason) {
		t.Fatalf("wait: %v, want the pause and its reason", err)
	}
	change(nil)
	if err := s.Wait(t.Context(), false, func(Progress, error) {}); err != nil {
		t.Fatal(err)
	}
	if report := mustVerify(t, s.Bucket); report.Stored != 30 {
		t.Errorf("%+v, want 30 pages", report)
	}
}

// TestMetrics requests /metrics again and again while a crawl runs; after the crawl, the
// metrics must have its figures.
func TestMetrics(t *testing.T) {
	t.Parallel()
	served := newSite(t, 30)
	s := open(t, options(t))
	begin(t, s, Plan{Seeds: seeds(served.URL + "/")})
	page, err := s.Page(PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(from string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/metrics", nil)
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		return w
	}
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for range 20 {
				ask("127.0.0.1:9")
			}
		})
	}
	if err := s.Wait(t.Context(), false, func(Progress, error) {}); err != nil {
		t.Fatal(err)
	}
	asking.Wait()
	if w := ask("192.0.2.1:9"); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "bucketsearch_urls") {
		t.Errorf("another machine gets %d %s", w.Code, w.Body)
	}
	w := ask("127.0.0.1:9")
	for _, want := range []string{
		"\nbucketsearch_urls{state=\"stored\"} 30\n", "\nbucketsearch_documents 30\n", "\nbucketsearch_failures_total{function=\"fetch\"} 0\n",
		"\nbucketsearch_requests_waited_seconds_total{queue=\"costly\"} 0\n",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %q in the metrics:\n%s", want, w.Body)
		}
	}
}
