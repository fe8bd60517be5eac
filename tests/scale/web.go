package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// web is an invented web, which is like the real one in what costs depend on:
//
//	sites        one for each 200 pages, of unequal sizes: the n-th has 1/n^0.9 of the pages of the largest
//	words        the n-th word is 1/n^1.07 as frequent as the first (Zipf's law), with two million words in all;
//	             some words of each page are rare ones, its subject
//	lengths      log-normal, 180 words in the middle
//	links        six of a navigation, four that make a tree, by which every page is found, and eight in the text:
//	             most to pages of the same site, and most of those to few popular ones
//	errors       in a hundred pages, two links to missing pages, two to pages that have moved, and one that
//	             robots.txt forbids
//
// A page is made anew for each request, always in the same way. So a web needs no memory for pages.
type web struct {
	sizes  []int          // number of pages of each site
	hosts  []string       // host of each site
	number map[string]int // number of the site with a host
	tick   func()         // called for each request: time passes
}

// vocabulary is the greatest number of a word in a text.
const vocabulary = 1 << 21

// pagesOfSite is the average number of pages of a site.
const pagesOfSite = 200

// newWeb returns a web with the given number of pages. For each request it calls the function tick.
func newWeb(pages int, tick func()) *web {
	w := &web{number: make(map[string]int), tick: tick}
	n := max(1, pages/pagesOfSite)
	shares, sum := make([]float64, n), 0.0
	for i := range shares {
		shares[i] = math.Pow(float64(i+1), -0.9)
		sum += shares[i]
	}
	left := pages
	for i, share := range shares {
		host := fmt.Sprintf("%s%d.example", word(uint64(i)), i)
		w.hosts, w.number[host] = append(w.hosts, host), i
		w.sizes = append(w.sizes, max(1, int(share/sum*float64(pages))))
		left -= w.sizes[i]
	}
	w.sizes[0] += left // what rounding has left out
	return w
}

// collection returns the settings of a crawl of the whole web, which requests each page once.
func (w *web) collection() collection.Collection {
	return collection.Collection{
		Name: "web", Agent: "scalebot/1.0", HostConnections: 1, PatternPages: collection.Unlimited, Schedule: "once",
		Seeds: []collection.Seed{{URL: w.url(0, 0), Scope: collection.Any, Depth: collection.Unlimited}},
	}
}

// url returns the address of a page, by the number of its site, and its number in the site.
func (w *web) url(site, page int) string { return "http://" + w.hosts[site] + path(site, page) }

func path(site, page int) string {
	if page == 0 {
		return "/"
	}
	r := randomOf(site, page, 1)
	return fmt.Sprintf("/%s/%s-%d.html", word(uint64(page/50+site)), word(r.Uint64N(5000)), page)
}

// title returns the title of a page: three words of its subject.
func title(site, page int) string {
	topic := subject(site, page)
	return strings.ToUpper(topic[0][:1]) + topic[0][1:] + " " + topic[1] + " " + topic[2]
}

// subject returns the rare words of a page. The first is one of its site.
func subject(site, page int) (words [4]string) {
	own := randomOf(site, page/50, 2)
	words[0] = rare(own)
	r := randomOf(site, page, 3)
	for i := range words[1:] {
		words[i+1] = rare(r)
	}
	return words
}

// rare returns a word that is not among the 200 most frequent ones.
func rare(r *rand.Rand) string { return word(200 + uint64(math.Exp(r.Float64()*12))) }

// randomOf returns the source of randomness for one purpose of a page.
func randomOf(site, page, purpose int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(site)<<32|uint64(page), uint64(purpose)))
}

// word returns the n-th word of an artificial language of two-letter syllables.
func word(n uint64) string {
	var s []byte
	for n += 81; n > 0; n /= 80 {
		s = append(s, "bcdfghklmnprstvw"[n%16], "aeiou"[n/16%5])
	}
	return string(s)
}

// RoundTrip implements http.RoundTripper: it answers a request.
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	w.tick()
	status, body, header := w.answer(r.URL.Host, r.URL.EscapedPath())
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: header, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

func (w *web) answer(host, at string) (status int, body string, header http.Header) {
	header = http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	site, found := w.number[host]
	if !found {
		return http.StatusNotFound, "", header
	}
	if at == "/robots.txt" {
		return http.StatusOK, "User-agent: *\nDisallow: /private/\n", http.Header{"Content-Type": {"text/plain"}}
	}
	page, _ := strconv.Atoi(strings.TrimSuffix(at[strings.LastIndexByte(at, '-')+1:], ".html"))
	switch {
	case page < 0 || page >= w.sizes[site]:
	case at == path(site, page):
		header.Set("Last-Modified", time.Unix(1_700_000_000+int64(page), 0).UTC().Format(http.TimeFormat))
		return http.StatusOK, w.html(site, page), header
	case strings.HasPrefix(at, "/moved-"):
		header.Set("Location", path(site, page))
		return http.StatusMovedPermanently, "", header
	}
	return http.StatusNotFound, "", header
}

// html returns the content of a page.
func (w *web) html(site, page int) string {
	var out strings.Builder
	name := title(site, page)
	fmt.Fprintf(&out, "<!doctype html>\n<html lang=en><head><title>%s</title></head>\n<body><nav>", name)
	link := func(site, page int) {
		fmt.Fprintf(&out, "<a href=\"%s\">%s</a>\n", w.url(site, page), title(site, page))
	}
	for i := range min(6, w.sizes[site]) {
		link(site, i*50%w.sizes[site])
	}
	out.WriteString("</nav>\n<main><h1>" + name + "</h1>\n")
	words := 0
	w.text(site, page, func(text string) {
		if words%60 == 0 {
			fmt.Fprintf(&out, "\n<p>")
		}
		words++
		out.WriteString(text + " ")
	}, link)
	out.WriteString("</main>\n<ul>")
	for child := 4*page + 1; child <= 4*page+4 && child < w.sizes[site]; child++ {
		link(site, child)
	}
	if page == 0 {
		for child := 4*site + 1; child <= 4*site+4 && child < len(w.sizes); child++ {
			link(child, 0)
		}
	}
	switch i := page % 100; {
	case i == 7 || i == 57:
		fmt.Fprintf(&out, "<a href=\"/missing-%d.html\">missing</a>", page)
	case i == 27 || i == 77:
		fmt.Fprintf(&out, "<a href=\"/moved-%d.html\">moved</a>", page)
	case i == 47:
		fmt.Fprintf(&out, "<a href=\"/private/%d.html\">private</a>", page)
	}
	out.WriteString("</ul></body></html>\n")
	return out.String()
}

// text makes the text of a page: it calls the function put for each word, and the function link for each link.
func (w *web) text(site, page int, put func(text string), link func(site, page int)) {
	r := randomOf(site, page, 4)
	words := rand.NewZipf(r, 1.07, 2.7, vocabulary)
	topic := subject(site, page)
	length := int(math.Exp(5.2 + 0.7*r.NormFloat64()))
	for i := range min(length, 5000) {
		if i%12 == 0 {
			put(topic[r.IntN(len(topic))] + ".")
		} else {
			put(word(words.Uint64()))
		}
		if i%20 == 10 && i < 160 {
			link(w.target(r, site))
		}
	}
}

// target returns the page to which a link in the text of a site's page leads: in six of seven cases one of the
// same site.
func (w *web) target(r *rand.Rand, from int) (site, page int) {
	site = from
	if r.IntN(7) == 0 {
		site = int(math.Pow(float64(len(w.sizes)), r.Float64())) - 1
	}
	return site, int(math.Pow(float64(w.sizes[site]), r.Float64())) - 1
}

// pages returns the number of pages of the web.
func (w *web) pages() (sum int) {
	for _, size := range w.sizes {
		sum += size
	}
	return sum
}

// sentences returns n queries of 20 words: two of the subject of a page, and others as frequent as in texts.
func (w *web) sentences(n int) (all []string) {
	words := rand.NewZipf(rand.New(rand.NewPCG(3, 4)), 1.07, 2.7, vocabulary)
	for _, text := range w.queries(n) {
		for range 18 {
			text += " " + word(words.Uint64())
		}
		all = append(all, text)
	}
	return all
}

// queries returns n queries: each has two words of the subject of a page.
func (w *web) queries(n int) (all []string) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		site := r.IntN(len(w.sizes))
		topic := subject(site, r.IntN(w.sizes[site]))
		all = append(all, topic[0]+" "+topic[1+r.IntN(3)])
	}
	return all
}
