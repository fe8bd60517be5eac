package faults

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/functionstest"
)

// The seeds lie in two partitions of two.
const (
	seedOne = "http://one.example/"
	seedTwo = "http://two.example/"
)

// queries are asked after every run.
var queries = []string{"gull", "gull heron", `"grey heron"`, "notes", "private"}

// web are the two sites: pages and where they lead.
var web = map[string]struct {
	words string
	links []string
}{
	"one.example/":             {"birds of the shore", []string{"/gull", "/heron", "/old", "/gone", "/private/x", "/notes.txt"}},
	"one.example/gull":         {"gull gull on the pier", []string{"/gull/2", "/", "/image.png"}},
	"one.example/gull/2":       {"gull with a fish", []string{"/gull/3", "/gull"}},
	"one.example/gull/3":       {"the last gull", []string{"http://elsewhere.example/"}},
	"one.example/heron":        {"grey heron, no gull", []string{"http://two.example/", "http://two.example/reed"}},
	"one.example/new":          {"a page that moved", []string{"/heron"}},
	"one.example/private/x":    {"private page", nil},
	"two.example/":             {"marsh birds", []string{"/reed", "/reed/bittern", "/reed/rail"}},
	"two.example/reed":         {"reed and the grey heron", []string{"http://one.example/gull"}},
	"two.example/reed/bittern": {"bittern beside a gull", nil},
	"two.example/reed/rail":    {"water rail", nil},
}

func serve(w http.ResponseWriter, r *http.Request) {
	switch address := r.Host + r.URL.Path; address {
	case "one.example/robots.txt":
		fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
	case "one.example/old":
		http.Redirect(w, r, "/new", http.StatusMovedPermanently)
	case "one.example/notes.txt":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(w, "notes on every gull")
	case "one.example/image.png":
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprint(w, "\x89PNG\r\n\x1a\n")
	default:
		page, found := web[address]
		if !found {
			http.NotFound(w, r)
			return
		}
		var html strings.Builder
		html.WriteString(functionstest.HTML(page.words))
		for _, link := range page.links {
			fmt.Fprintf(&html, "<p><a href=%q>see also</a>", link)
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, html.String())
	}
}

// transport asks the sites without a network.
type transport struct {
	flaky bool // each address answers only when it is asked for the second time

	mu    sync.Mutex
	asked map[string]bool // protected by mu
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	if t.flaky && t.first(r.URL.String()) {
		recorder.WriteHeader(http.StatusServiceUnavailable)
	} else {
		serve(recorder, r)
	}
	return recorder.Result(), nil
}

func (t *transport) first(url string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.asked[url]
	if t.asked == nil {
		t.asked = make(map[string]bool)
	}
	t.asked[url] = true
	return first
}
