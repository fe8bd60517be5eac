package system

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/s3"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// serveStore is the argument with which the test binary runs as the embedded object store.
const serveStore = "serve-store"

func TestMain(m *testing.M) {
	logging.Disable()
	if len(os.Args) == 2 && os.Args[1] == serveStore {
		if err := s3.Child(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func options(t *testing.T) Options {
	return Options{
		Data: t.TempDir(), Self: []string{os.Args[0], serveStore}, Partitions: 1,
		Agent: "test/1.0", AllowPrivate: true, Getenv: os.Getenv,
	}
}

func open(t *testing.T, o Options) *System {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.dir != nil {
			closeSystem(t, s)
		}
	})
	return s
}

func closeSystem(t *testing.T, s *System) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s.dir = nil
}

// begin plans and starts a crawl, and returns the time of its beginning.
func begin(t *testing.T, s *System, p Plan) time.Time {
	t.Helper()
	began := time.Now()
	p.HostConnections = 1
	if err := s.Plan(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(""); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return began
}

// crawl runs a crawl until it is done, and returns its summary.
func crawl(t *testing.T, s *System, p Plan) Summary {
	t.Helper()
	began := begin(t, s, p)
	wait(t, s, func(Progress, error) {})
	summary, err := s.Summarize(t.Context(), p, began)
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

func wait(t *testing.T, s *System, report func(Progress, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Wait(ctx, false, report); err != nil {
		log, _ := os.ReadFile(s.logFile.Name())
		t.Fatalf("%v; the log:\n%s", err, log)
	}
}

func seeds(urls ...string) []collection.Seed {
	var all []collection.Seed
	for _, url := range urls {
		all = append(all, collection.Seed{URL: url, Scope: collection.Host, Depth: collection.Unlimited})
	}
	return all
}

func mustVerify(t *testing.T, bucket blob.Reader) verify.Report {
	t.Helper()
	report, err := (&verify.Verifier{Bucket: bucket, Now: time.Now()}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range report.Problems {
		t.Error(problem)
	}
	return report
}

// site is a web site whose page i links to the pages 2i+1 and 2i+2.
type site struct {
	*httptest.Server
	pages int

	mu      sync.Mutex
	asked   map[string]int // number of requests by path
	answers int
	gate    func(n int) // called with n before the site gives its n-th answer; the answer waits until it returns
}

func newSite(t *testing.T, pages int) *site {
	s := &site{pages: pages, asked: make(map[string]int), gate: func(int) {}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked[r.URL.Path]++
	s.answers++
	n := s.answers
	s.mu.Unlock()
	s.gate(n)
	page := 0
	if r.URL.Path != "/" {
		if _, err := fmt.Sscanf(r.URL.Path, "/%d.html", &page); err != nil {
			http.NotFound(w, r)
			return
		}
	}
	var links strings.Builder
	for _, next := range []int{2*page + 1, 2*page + 2} {
		if next < s.pages {
			fmt.Fprintf(&links, `<p><a href="/%d.html">to page %d</a>`, next, next)
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><title>Page %d</title><p>This is the page of the number %d, and of some words.%s", page, page, links.String())
}
