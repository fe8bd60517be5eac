package bench

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Sizes of the crawl of many hosts at once by BenchmarkPolite.
const (
	politeHosts = 200
	politePages = 40 // pages of a host, besides the first one
	politeDelay = time.Second
)

// BenchmarkPolite crawls many hosts at once, with a delay of a second between two requests to
// one of them. It reports:
//
//   - of-bound: the number of requests per second, divided by the maximum that the delays allow
//   - s-closest: the shortest time from an answer to the next request to the same host, by the log
//     of the server
//   - early: the number of requests that came more than 2 ms too early. A smaller error is no fault,
//     because the crawler records the end of a batch in whole milliseconds
func BenchmarkPolite(b *testing.B) {
	for b.Loop() {
		h := newHosts(b)
		data := filepath.Join(b.TempDir(), "data")
		u := measure(b, nil, program, "crawl", "--data", data, "--collection", h.collection(b))
		h.report(b)
		b.ReportMetric(float64(u.peak)/(1<<20), "peak-MiB")
	}
}

// hosts serves sites with the same number of pages each. The first page of a site links to all
// others.
type hosts struct {
	seeds []string

	mu     sync.Mutex
	visits map[string][]visit // visits of each host, by its name; protected by mu
}

// visit is a request to a site: when it came, and when its answer was written.
type visit struct{ began, ended time.Time }

func newHosts(b *testing.B) *hosts {
	b.Helper()
	h := &hosts{visits: make(map[string][]visit)}
	port := "0"
	for i := range politeHosts {
		listener := listenOn(b, fmt.Sprintf("127.0.1.%d:%s", i+1, port))
		_, port, _ = net.SplitHostPort(listener.Addr().String())
		server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(listener) }()
		b.Cleanup(func() { _ = server.Close() })
		h.seeds = append(h.seeds, "http://"+listener.Addr().String()+"/")
	}
	return h
}

// ServeHTTP serves pages, and answers 404 for robots.txt.
func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	h.answer(w, r)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.visits[r.Host] = append(h.visits[r.Host], visit{began, time.Now()})
}

func (h *hosts) answer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><title>Page %s of %s</title><p>Some words.", r.URL.Path, r.Host)
	if r.URL.Path == "/" {
		for i := range politePages {
			fmt.Fprintf(w, " <a href=/%d.html>%[1]d</a>", i)
		}
	}
}

// collection writes a collection file for a crawl of all hosts, and returns its path.
func (h *hosts) collection(b *testing.B) string {
	b.Helper()
	seeds, err := json.Marshal(h.seeds) // a list in JSON is also one in TOML
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "polite.toml")
	lines := []string{
		`name = "polite"`, "seeds = " + string(seeds), fmt.Sprintf("delay = %q", politeDelay.String()),
		fmt.Sprintf("connections = %d", politeHosts), `allow = ["127.0.0.0/8"]`, "",
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

func (h *hosts) report(b *testing.B) {
	b.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []visit
	closest, early := time.Hour, 0
	for host, visits := range h.visits {
		if len(visits) != politePages+2 {
			b.Errorf("%s was asked %d times, want its robots.txt and %d pages", host, len(visits), politePages+1)
		}
		slices.SortFunc(visits, func(v, w visit) int { return v.began.Compare(w.began) })
		for i, v := range visits[1:] {
			pause := v.began.Sub(visits[i].ended)
			closest = min(closest, pause)
			if pause < politeDelay-2*time.Millisecond {
				early++
			}
		}
		all = append(all, visits...)
	}
	first, last, answering := all[0].began, all[0].ended, time.Duration(0)
	for _, v := range all {
		answering += v.ended.Sub(v.began)
		if v.began.Before(first) {
			first = v.began
		}
		if v.ended.After(last) {
			last = v.ended
		}
	}
	mean := answering / time.Duration(len(all))
	rate := float64(len(all)) / (last.Sub(first) + politeDelay).Seconds() // the delay after the last request counts, too
	b.ReportMetric(float64(len(all)), "requests")
	b.ReportMetric(rate, "requests/s")
	b.ReportMetric(rate/(politeHosts/(mean+politeDelay).Seconds()), "of-bound")
	b.ReportMetric(closest.Seconds(), "s-closest")
	b.ReportMetric(float64(early), "early")
}
