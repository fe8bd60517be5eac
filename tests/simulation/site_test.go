package simulation

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
)

// site is a simulated web: some hosts, each with a seed.
type site struct {
	seeds        []string
	queries      []string        // queries whose results are compared at the end of a run
	delay        time.Duration   // delay between requests to one host
	packageBytes int64           // fetched pages are packed when together they have this many bytes, or after a minute
	robots       string          // robots.txt of each host
	hostPages    int64           // limit of pages of each host, as set in the collection "second"; 0: no limit
	pages        map[string]page // pages by host and path

	forgottenURLs, forgottenSites []string // what is erased in runs with a takedown: URLs and whole sites
}

// page is the answer of a site at one URL. URLs without a page get status 404.
type page struct {
	words  string
	links  []string
	status int    // HTTP status; 0 means 200
	media  string // media type, unless it is HTML
	to     string // target of a redirect
}

// tag returns the ETag of the page, which depends on its words.
func (p page) tag() string { return fmt.Sprintf("%q", fmt.Sprint(crc32.ChecksumIEEE([]byte(p.words)))) }

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		fmt.Fprint(w, s.robots)
		return
	}
	p, found := s.pages[r.Host+r.URL.Path]
	switch {
	case !found:
		http.NotFound(w, r)
	case p.to != "":
		http.Redirect(w, r, p.to, http.StatusMovedPermanently)
	case p.status != 0:
		http.Error(w, p.words, p.status)
	case r.Header.Get("If-None-Match") == p.tag():
		w.WriteHeader(http.StatusNotModified)
	case p.media != "":
		w.Header().Set("Content-Type", p.media)
		fmt.Fprint(w, p.words)
	default:
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("ETag", p.tag())
		fmt.Fprint(w, functionstest.HTML(p.words))
		for _, link := range p.links {
			fmt.Fprintf(w, "<p><a href=%q>see also</a>", link)
		}
	}
}

// visitors is an http.RoundTripper that requests a simulated site without a network, and counts
// the requests.
type visitors struct {
	site  *site
	asked map[string]int // URL → number of requests

	panicAt string // URL whose request makes the process panic; "": none
}

// RoundTrip implements http.RoundTripper.
func (v *visitors) RoundTrip(r *http.Request) (*http.Response, error) {
	v.asked[r.URL.String()]++
	if r.URL.String() == v.panicAt {
		panic("the answer of " + v.panicAt)
	}
	recorder := httptest.NewRecorder()
	v.site.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// small is a site that is small enough for thousands of runs. It has two seeds, one for each of
// the two partitions.
var small = &site{
	seeds:        []string{"http://one.example/", "http://two.example/"},
	queries:      []string{"gull", "gull heron", `"grey heron"`, "notes", "private"},
	packageBytes: 1500,
	hostPages:    4, // the limit that two.example reaches
	robots:       "User-agent: *\nDisallow: /private/\n",
	pages: map[string]page{
		"one.example/":             {words: "birds of the shore", links: []string{"/gull", "/heron", "/old", "/gone", "/private/x", "/notes.txt"}},
		"one.example/gull":         {words: "gull gull on the pier", links: []string{"/gull/2", "/", "/image.png"}},
		"one.example/gull/2":       {words: "gull with a fish", links: []string{"/gull/3", "/gull"}},
		"one.example/gull/3":       {words: "the last gull", links: []string{"http://elsewhere.example/"}},
		"one.example/heron":        {words: "grey heron, no gull", links: []string{"http://two.example/", "http://two.example/reed"}},
		"one.example/old":          {to: "/new"},
		"one.example/new":          {words: "a page that moved", links: []string{"/heron"}},
		"one.example/private/x":    {words: "private page"},
		"one.example/notes.txt":    {words: "notes on every gull", media: "text/plain; charset=utf-8"},
		"one.example/image.png":    {words: "\x89PNG\r\n\x1a\n", media: "image/png"},
		"two.example/":             {words: "marsh birds", links: []string{"/reed", "/reed/bittern", "/reed/rail"}},
		"two.example/reed":         {words: "reed and the grey heron", links: []string{"http://one.example/gull"}},
		"two.example/reed/bittern": {words: "bittern beside a gull"},
		"two.example/reed/rail":    {words: "water rail"},
	},

	forgottenURLs: []string{"http://two.example/reed/rail"}, // no other page is found only by this one
}

// large is a site of four hosts and some sixty pages, with every kind of page.
var large = generate()

// words are the vocabulary of the large site.
var words = strings.Fields("gull heron reed bittern rail tern plover dunlin knot curlew avocet shore marsh pier wave grey water nest egg wing")
