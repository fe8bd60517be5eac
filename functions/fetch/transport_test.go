package fetch

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestOneConnection asks for all of a batch over one connection, whatever the
// answers are.
func TestOneConnection(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/page", respond(200, "text/html", strings.Repeat("<p>page", 10_000)))
	mux.HandleFunc("/gzip", encoding("gzip", gzipped(t, strings.NewReader("<p>packed"))))
	mux.HandleFunc("/br", encoding("br", brotlied(t, strings.NewReader("<p>packed"))))
	mux.HandleFunc("/zstd", encoding("zstd", zstded(t, strings.NewReader("<p>packed"))))
	mux.HandleFunc("/image", respond(200, "image/png", strings.Repeat("x", 10_000)))
	mux.HandleFunc("/error", respond(500, "text/html", strings.Repeat("x", 10_000)))
	mux.HandleFunc("/old", http.RedirectHandler("/page", http.StatusMovedPermanently).ServeHTTP)
	var connections sync.Map // by address
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections.Store(r.RemoteAddr, true)
		mux.ServeHTTP(w, r)
	}))
	w.run(t, w.batch("/page", "/gzip", "/br", "/zstd", "/image", "/error", "/old", "/none", "/page?"))
	n := 0
	for range connections.Range {
		n++
	}
	if n != 1 {
		t.Errorf("%d connections were made", n)
	}
}

func TestAsksForCodings(t *testing.T) {
	asked := make(chan string, 1)
	w := newWorld(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Accept-Encoding") }))
	w.run(t, w.batch("/"))
	if got := <-asked; got != "gzip, br, zstd" {
		t.Errorf("Accept-Encoding: %s", got)
	}
}
