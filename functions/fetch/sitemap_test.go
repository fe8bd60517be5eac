package fetch

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// runSitemap fetches one sitemap, at depth 0 and with expiry class 3, and returns its outcome and
// the spool object. If the given function is not nil, it may change the target before the fetch.
func (w *world) runSitemap(t testing.TB, path string, change func(*batch.Target)) (book.Outcome, spool.Spool) {
	t.Helper()
	b := w.batch(path)
	b.Targets[0].Sitemap, b.Targets[0].Depth = true, 0
	if change != nil {
		change(&b.Targets[0])
	}
	got := w.run(t, b)
	return got.Ledger.Outcomes[0], got
}

// validated returns a handler that answers with a status, a body, an ETag and a Last-Modified.
func validated(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"new"`)
		w.Header().Set("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")
		respond(status, "text/html", body)(w, r)
	}
}

func TestSitemap(t *testing.T) {
	const (
		two    = "<urlset><url><loc>/1</loc></url><url><loc>/2</loc><lastmod>2026-01-02</lastmod></url>"
		fresh  = `"new" Fri, 02 Jan 2026 03:04:05 GMT`
		before = `"old" then`
	)
	looks := &batch.Look{Time: start.Add(-time.Hour), ETag: `"old"`, Modified: "then", Collections: []string{"c"}}
	type result struct {
		State      book.State
		Reason     string
		Detail     string // beginning of the detail
		Exponent   int16
		Validators string
		Links      int
	}
	for name, c := range map[string]struct {
		handler  http.HandlerFunc
		last     *batch.Look
		attempts uint8 // attempts before this one
		want     result
	}{
		"read":               {validated(200, two+"</urlset>"), nil, 0, result{book.Skipped, "sitemap", "", 3, fresh, 2}},
		"text":               {respond(200, "image/png", "http://127.0.0.1/1\n"), nil, 0, result{book.Skipped, "sitemap", "", 3, " ", 1}},
		"empty":              {respond(200, "", "<urlset/>"), nil, 0, result{book.Skipped, "sitemap", "", 3, " ", 0}},
		"read again":         {validated(200, two+"</urlset>"), looks, 0, result{book.Skipped, "sitemap", "", 2, fresh, 2}},
		"without validators": {respond(200, "", "<urlset/>"), looks, 0, result{book.Skipped, "sitemap", "", 4, " ", 0}},
		"not modified":       {respond(304, "", ""), looks, 0, result{book.Skipped, "sitemap", "not modified", 4, before, 0}},
		"not modified, new":  {validated(304, ""), looks, 0, result{book.Skipped, "sitemap", "not modified", 4, fresh, 0}},
		"not modified since": {respond(304, "", ""), nil, 0, result{book.Failed, "http 304", "Not Modified", 3, " ", 0}},
		"broken":             {validated(200, two+"</wrong>"), nil, 0, result{book.Skipped, "sitemap", "cannot read sitemap http://", 3, fresh, 2}},
		"cut short": {raw("HTTP/1.1 200 OK\r\nETag: \"new\"\r\nContent-Length: 1000\r\n\r\n" + two), nil, 0,
			result{book.Retry, "cut short", "the body ended", 3, " ", 2}},
		"always cut short": {raw("HTTP/1.1 200 OK\r\nETag: \"new\"\r\nContent-Length: 1000\r\n\r\n" + two), nil, MaxAttempts - 1,
			result{book.Skipped, "sitemap", "cannot read sitemap http://", 3, " ", 2}},
		"cut too short":      {raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n<urlset>"), nil, 0, result{book.Retry, "cut short", "the body ended", 3, " ", 0}},
		"a page":             {validated(200, "<!doctype html><title>not found</title>"), nil, 0, result{book.Failed, "no sitemap", "cannot read sitemap http://", 3, " ", 0}},
		"a page now":         {validated(200, "<!doctype html><title>not found</title>"), looks, 0, result{book.Failed, "no sitemap", "cannot read sitemap http://", 3, " ", 0}},
		"nothing":            {validated(200, ""), nil, 0, result{book.Failed, "no sitemap", "cannot read sitemap http://", 3, " ", 0}},
		"nothing, encoded":   {encoding("gzip", nil), nil, 0, result{book.Failed, "no sitemap", "nothing was sent", 3, " ", 0}},
		"behind gzip":        {encoding("gzip", gzipped(t, strings.NewReader(two+"</urlset>"))), nil, 0, result{book.Skipped, "sitemap", "", 3, " ", 2}},
		"a gzip file":        {respond(200, "application/gzip", string(gzipped(t, strings.NewReader(two+"</urlset>")))), nil, 0, result{book.Skipped, "sitemap", "", 3, " ", 2}},
		"no gzip":            {encoding("gzip", []byte("<urlset></urlset>")), nil, 0, result{book.Failed, "encoding", "the content", 3, " ", 0}},
		"missing":            {respond(404, "", two), nil, 0, result{book.Failed, "http 404", "Not Found", 3, " ", 0}},
		"server error":       {respond(500, "", two), nil, 0, result{book.Retry, "http 500", "Internal", 3, " ", 0}},
		"server error again": {respond(500, "", two), looks, MaxAttempts - 1, result{book.Skipped, "sitemap", "http 500: Internal", 3, before, 0}},
		"always an error":    {respond(500, "", two), nil, MaxAttempts - 1, result{book.Failed, "http 500", "Internal", 3, " ", 0}},
		"redirect":           {hops(0, "/moved.xml"), looks, 0, result{book.Skipped, "redirect", "to http://", 3, " ", 1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.handler)
			o, object := w.runSitemap(t, "/map", func(target *batch.Target) { target.Last, target.Attempts = c.last, c.attempts })
			got := result{o.State, o.Reason, o.Detail, o.Exponent, o.ETag + " " + o.Modified, len(object.Ledger.Links)}
			if strings.HasPrefix(got.Detail, c.want.Detail) && c.want.Detail != "" {
				got.Detail = c.want.Detail
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if len(object.Pages) > 0 || o.Digest != 0 || o.Attempts != c.attempts+1 {
				t.Errorf("%d pages, digest %d, %d attempts", len(object.Pages), o.Digest, o.Attempts)
			}
		})
	}
}

// TestSitemapIsAskedConditionally requests sitemaps that were read before: the requests must carry
// the ETag and Last-Modified of the last fetch. A sitemap that robots.txt forbids must not be
// requested.
func TestSitemapIsAskedConditionally(t *testing.T) {
	var header http.Header
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", respond(200, "", "User-agent: *\nDisallow: /no"))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		w.WriteHeader(http.StatusNotModified)
	})
	w := newWorld(t, mux)
	b := w.batch("/no.xml", "/yes.xml")
	b.Robots = []string{w.server.URL}
	for i := range b.Targets {
		b.Targets[i].Sitemap, b.Targets[i].Last = true, &batch.Look{Time: start, ETag: `"e"`, Modified: "m", Collections: []string{"c"}}
	}
	want := []end{{book.Skipped, "robots"}, {book.Skipped, "sitemap"}}
	if diff := cmp.Diff(want, ends(w.run(t, b))); diff != "" {
		t.Error(diff)
	}
	if header.Get("If-None-Match") != `"e"` || header.Get("If-Modified-Since") != "m" {
		t.Errorf("asked with %v", header)
	}
}

// TestSitemapMoved requests a sitemap that redirects: the link to the destination must have the kind
// book.Sitemap.
func TestSitemapMoved(t *testing.T) {
	w := newWorld(t, hops(0, "/moved.xml"))
	_, object := w.runSitemap(t, "/map", func(target *batch.Target) { target.Depth, target.Hops = 1, 2 })
	l := object.Ledger.Links[0]
	if l.Kind != book.Sitemap || l.Target != w.server.URL+"/moved.xml" || l.Depth != 1 || l.Hops != 3 {
		t.Errorf("%+v", l)
	}
}

// TestManySitemapsEndBatch fetches several sitemaps with many entries: when the memory of their
// links reaches the limit of the batch, no further sitemap may be requested.
func TestManySitemapsEndBatch(t *testing.T) {
	w := newWorld(t, respond(200, "", "<urlset>"+numbered("<url><loc>/%d</loc></url>", 100)+"</urlset>"))
	w.Limits.Batch = 150 * linkSize
	b := w.batch("/1.xml", "/2.xml", "/3.xml")
	for i := range b.Targets {
		b.Targets[i].Sitemap = true
	}
	want := []end{{book.Skipped, "sitemap"}, {book.Skipped, "sitemap"}, {book.NotAsked, ""}}
	if diff := cmp.Diff(want, ends(w.run(t, b))); diff != "" {
		t.Error(diff)
	}
}

// TestSitemapOfOthers reads a sitemap with entries of other sites: only those that the collection
// admits may become links. Their weights follow from their priorities or, for a collection with a
// topic, from their addresses.
func TestSitemapOfOthers(t *testing.T) {
	const text = "<urlset><url><loc>http://wanted.test/tea-pots</loc><priority>0</priority></url>" +
		"<url><loc>http://wanted.test/imprint</loc></url><url><loc>http://other.test/tea-pots</loc></url></urlset>"
	for name, c := range map[string]struct {
		topic *collection.Topic
		want  func(pots, imprint uint8) bool
	}{
		"no topic": {nil, func(pots, imprint uint8) bool { return pots == 184 && imprint == 232 }},
		"a topic":  {&collection.Topic{Words: []string{"tea pots"}}, func(pots, imprint uint8) bool { return pots > imprint }},
	} {
		w := newWorld(t, respond(200, "", text))
		w.publish(t, collection.Collection{Name: "c", Topic: c.topic, Language: "en", Seeds: []collection.Seed{{URL: "http://wanted.test/", Scope: collection.Host, Depth: 9}}})
		weights := map[string]uint8{}
		_, object := w.runSitemap(t, "/map", nil)
		for _, l := range object.Ledger.Links {
			weights[l.Target] = l.Weight
		}
		if len(weights) != 2 || !c.want(weights["http://wanted.test/tea-pots"], weights["http://wanted.test/imprint"]) {
			t.Errorf("%s: weights %v", name, weights)
		}
	}
}
