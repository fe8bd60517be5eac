package tests

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// site serves several hosts on loopback addresses, all on one port, and records the requests.
type site struct {
	origins []string // http://127.0.0.1:PORT, http://127.0.0.2:PORT, …

	mu       sync.Mutex // protects the fields below
	slowness time.Duration
	down     bool
	visits   []visit
	changed  chan struct{} // closed at every visit, and replaced by a new channel
}

// visit is one request and its answer.
type visit struct {
	url, agent   string
	status       int
	bytes        int // length of the body
	began, ended time.Time
}

// isPage reports whether the visit was not for robots.txt.
func (v visit) isPage() bool { return !strings.HasSuffix(v.url, "/robots.txt") }

// serve serves the given number of hosts until the test ends. The callback returns the handler
// of each host, from its index and the origins of all hosts.
func serve(t testing.TB, count int, handler func(origin int, origins []string) http.Handler) *site {
	t.Helper()
	return serveOn(t, listen(t, count), handler)
}

// serveOn does the work of serve for hosts at the addresses of the listeners.
func serveOn(t testing.TB, listeners []net.Listener, handler func(origin int, origins []string) http.Handler) *site {
	t.Helper()
	s := &site{changed: make(chan struct{})}
	for _, l := range listeners {
		s.origins = append(s.origins, "http://"+l.Addr().String())
	}
	for i, l := range listeners {
		server := httptest.NewUnstartedServer(s.counted(s.origins[i], handler(i, s.origins)))
		_ = server.Listener.Close() // the listener that httptest has made
		server.Listener = l
		server.Start()
		t.Cleanup(server.Close)
	}
	return s
}

// listen listens on one port of 127.0.0.1, 127.0.0.2 and so on.
func listen(t testing.TB, count int) []net.Listener {
	t.Helper()
	const attempts = 20
	var err error
	for range attempts {
		var listeners []net.Listener
		port := "0"
		for i := range count {
			var l net.Listener
			if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.%d:%s", i+1, port)); err != nil {
				break
			}
			listeners = append(listeners, l)
			_, port, _ = net.SplitHostPort(l.Addr().String())
		}
		if len(listeners) == count {
			return listeners
		}
		for _, l := range listeners {
			_ = l.Close() // another program has this port on one of the addresses
		}
	}
	t.Fatalf("no port is free on %d loopback addresses: %v", count, err)
	return nil
}

// serveGenerated serves three generated hosts.
func serveGenerated(t testing.TB, pages int) (*site, []host) {
	t.Helper()
	const count = 3
	hosts := make([]host, count)
	s := serve(t, count, func(i int, origins []string) http.Handler {
		hosts[i] = generate(uint64(i+1), pages, origins[i], origins[(i+1)%count])
		return hosts[i]
	})
	return s, hosts
}

// serveDirectory serves the files of a directory on one host.
func serveDirectory(t testing.TB, dir string) *site {
	t.Helper()
	return serve(t, 1, func(int, []string) http.Handler { return http.FileServer(http.Dir(dir)) })
}

func (s *site) counted(origin string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		s.mu.Lock()
		slowness, down := s.slowness, s.down
		s.mu.Unlock()
		if slowness > 0 {
			time.Sleep(slowness) // makes the server slow
		}
		result := &weighed{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.visits = append(s.visits, visit{origin + r.URL.RequestURI(), r.UserAgent(), result.status, result.bytes, began, time.Now()})
			close(s.changed)
			s.changed = make(chan struct{})
		}()
		if down {
			http.Error(result, "down", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(result, r)
	})
}

// weighed is an http.ResponseWriter that records the status of an answer and the length of its
// body.
type weighed struct {
	http.ResponseWriter
	status, bytes int
}

func (w *weighed) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *weighed) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.bytes += n
	return n, err
}

// ServeHTTP serves the answers of a generated host.
func (h host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, hits := h[r.URL.RequestURI()]
	if !hits {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.contentType)
	for name, value := range map[string]string{"ETag": a.etag, "Last-Modified": a.modified} {
		if value != "" {
			w.Header().Set(name, value)
		}
	}
	if a.holds(r.Header) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if a.location != "" {
		w.Header().Set("Location", a.location)
	}
	if a.short {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)+100))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(a.body)) // fails if the client has gone
}

// seeds returns the addresses of the directory on every host of the site.
func (s *site) seeds(directory string) []string {
	var seeds []string
	for _, origin := range s.origins {
		seeds = append(seeds, origin+directory)
	}
	return seeds
}

// answerIn makes the site wait for the given time before every answer.
func (s *site) answerIn(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slowness = d
}

// fail makes the site answer every request with an error if down is true; if down is false, it
// works again.
func (s *site) fail(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// change calls a function that changes the site. Meanwhile the site serves no request.
func (s *site) change(by func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by()
}

// forget returns the visits since forget was last called, in the order in which they ended.
func (s *site) forget() []visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	visits := s.visits
	s.visits = nil
	return visits
}

// awaitVisits returns when n more visits have been made, or done is closed.
func (s *site) awaitVisits(n int, done <-chan struct{}) {
	s.mu.Lock()
	enough := len(s.visits) + n
	s.mu.Unlock()
	for {
		s.mu.Lock()
		visits, changed := len(s.visits), s.changed
		s.mu.Unlock()
		if visits >= enough {
			return
		}
		select {
		case <-changed:
		case <-done:
			return
		}
	}
}

// twice returns how many of the visits repeat an earlier visit to the same page.
func twice(visits []visit) int {
	seen := make(map[string]bool)
	again := 0
	for _, v := range visits {
		if seen[v.url] && v.isPage() {
			again++
		}
		seen[v.url] = true
	}
	return again
}
