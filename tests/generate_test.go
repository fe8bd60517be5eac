package tests

import (
	"compress/gzip"
	"fmt"
	"hash/crc32"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// answer is the answer of a generated host at one path.
type answer struct {
	status      int
	contentType string
	location    string
	etag        string
	modified    string // value of Last-Modified
	body        string
	short       bool   // true: the answer has a Content-Length greater than its body, so that it looks cut short
	becomes     string // state of the URL after a crawl of /docs/, such as "stored"; "": it is never found
}

// holds reports whether the validators in a request, If-None-Match or If-Modified-Since, show
// that the client has the present page.
func (a answer) holds(asked http.Header) bool {
	return a.etag != "" && asked.Get("If-None-Match") == a.etag || a.modified != "" && asked.Get("If-Modified-Since") == a.modified
}

// validated returns the answer with validators for later requests: an ETag, a Last-Modified or
// neither, depending on the length of the body.
func (a answer) validated() answer {
	switch sum := crc32.ChecksumIEEE([]byte(a.body)); len(a.body) % 3 {
	case 0:
		a.etag = fmt.Sprintf(`"%08x"`, sum)
	case 1:
		a.modified = time.Unix(int64(sum/4), 0).UTC().Format(http.TimeFormat)
	}
	return a
}

// host is a simulated host: its answers, by path.
type host map[string]answer

const robotsTxt = "User-agent: *\nDisallow: /docs/private/\n"

// generate returns a host with this number of linked pages, and with a URL for each outcome that
// a request can have. The same seed gives the same host. Some links lead to another generated
// host, whose origin is given as the neighbour.
func generate(seed uint64, pages int, origin, neighbour string) host {
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	h := host{
		"/robots.txt":              {contentType: "text/plain", body: robotsTxt + "Sitemap: " + origin + "/maps.xml\n"},
		"/maps.xml":                {contentType: "application/xml", etag: `"maps"`, body: sitemapIndex(origin + "/maps/all.xml.gz"), becomes: "skipped: sitemap"},
		"/maps/all.xml.gz":         {contentType: "application/gzip", etag: `"all"`, body: gzipped(sitemap(origin, "/docs/listed.html", "/docs/p0.html", "/other/unlinked.html", "/docs/listed.html?utm_source=map")), becomes: "skipped: sitemap"},
		"/docs/listed.html":        {body: g.page("A zephyr to which nobody links"), becomes: "stored"},
		"/other/unlinked.html":     {body: g.page("Unlinked"), becomes: "skipped: out of scope"},
		"/docs/p0.html?print":      {body: g.page("Printed", `<link rel="canonical" href="p0.html">`), becomes: "skipped: canonical"},
		"/":                        {body: g.page("Start", link("/docs/")), becomes: "skipped: out of scope"},
		"/other/outside.html":      {body: g.page("Outside", link("/other/far.html")), becomes: "skipped: out of scope"},
		"/other/far.html":          {body: g.page("Far outside")},
		"/docs/private/diary.html": {body: g.page("A diary"), becomes: "skipped: robots"},
		"/docs/moved.html":         {status: http.StatusMovedPermanently, location: "p0.html", becomes: "skipped: redirect"},
		"/docs/away.html":          {status: http.StatusFound, location: "/other/outside.html", becomes: "skipped: redirect"},
		"/docs/round.html":         {status: http.StatusFound, location: "about.html", becomes: "skipped: redirect"},
		"/docs/about.html":         {status: http.StatusFound, location: "round.html", becomes: "skipped: redirect"},
		"/docs/absent.html":        {status: http.StatusNotFound, body: "gone", becomes: "failed: http 404"},
		"/docs/broken.html":        {status: http.StatusInternalServerError, body: "broken", becomes: "failed: http 500"},
		"/docs/short.html":         {body: g.page("Cut short"), short: true, becomes: "failed: cut short"},
		"/docs/data.bin":           {contentType: "application/octet-stream", body: "\x00\x01\x02", becomes: "skipped: type"},
		"/docs/binary.html":        {body: "\x00\x01\x02\xff\xfe\x00binary\x00", becomes: "skipped: type"},
		"/docs/picture.png":        {contentType: "image/png", body: "\x89PNG", becomes: "skipped: asset"},
		"/docs/empty.html":         {becomes: "stored"},
		"/docs/plain.txt":          {contentType: "text/plain; charset=utf-8", body: g.sentences(4), becomes: "stored"},
		"/docs/%E6%97%A5%E6%9C%AC.html": {
			body:    "<html lang=ja><title>日本語の文書</title><h1>日本語の文書</h1><p>検索エンジンは文書を集めて索引を作ります。索引があると検索が速くなります。</p>",
			becomes: "stored",
		},
	}
	own := []string{
		`<a href="/">Start</a> <a href="../other/outside.html?a=1#b">Outside</a> <a href="../other/outside.html">Outside</a>`,
		`<a href="p0.html?utm_source=contents&fbclid=1">Tracked</a> <a href="` + neighbour + `/docs/">Neighbour</a> <a href="mailto:a@b">Mail</a> <img src="picture.png">`,
	}
	for path, a := range h {
		if strings.HasPrefix(path, "/docs/") && a.becomes != "skipped: asset" && path != "/docs/listed.html" {
			own = append(own, link(path))
		}
	}
	h["/docs/"] = answer{body: g.page("Contents", append(own, link("p0.html"))...), becomes: "stored"}
	h["/other/outside.html?a=1"] = h["/other/outside.html"]
	links := make([][]string, pages)
	for i := range links[1:] {
		from := g.IntN(i + 1) // a tree of links reaches every page
		links[from] = append(links[from], link(pageName(i+1)))
	}
	for i := range links {
		for range 3 {
			links[i] = append(links[i], link(pageName(g.IntN(pages))))
		}
		h["/docs/"+pageName(i)] = answer{body: g.page(fmt.Sprintf("Page %d %s", i, g.word()), links[i]...), becomes: "stored"}
	}
	for path, a := range h {
		if a.status == 0 {
			a.status = http.StatusOK
		}
		if a.contentType == "" {
			a.contentType = "text/html; charset=utf-8"
		}
		if a.status == http.StatusOK && !a.short && a.etag == "" {
			a = a.validated()
		}
		h[path] = a
	}
	return h
}

// sitemap returns a sitemap with the pages of an origin at these paths.
func sitemap(origin string, paths ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, path := range paths {
		fmt.Fprintf(&b, "<url><loc>%s%s</loc></url>\n", origin, html.EscapeString(path))
	}
	return b.String() + "</urlset>"
}

func sitemapIndex(url string) string {
	return `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>` + url + `</loc></sitemap></sitemapindex>`
}

func gzipped(text string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text) // cannot fail for a strings.Builder
	_ = w.Close()
	return b.String()
}

func pageName(i int) string { return fmt.Sprintf("p%d.html", i) }

func link(to string) string { return `<a href="` + to + `">see ` + html.EscapeString(to) + `</a>` }

type generator struct{ *rand.Rand }

// vocabulary has the words of generated pages. Words near the beginning occur most often.
var vocabulary = strings.Fields(`the of and to a in is that for it with as on be by this
	search engine index page crawl bucket store object segment query word document link web site
	host server partition manifest book outcome frontier lease token epoch package zip header
	mountain river forest valley meadow harbour island village bridge castle garden orchard
	carpenter sailor teacher painter farmer baker weaver miller potter shepherd
	violet amber crimson silver golden copper marble granite velvet cotton
	gather measure compare divide balance publish deliver collect remember forget
	quickly slowly gently seldom often always never together apart again`)

func (g generator) word() string {
	// The product of two uniform numbers is small more often than large.
	return vocabulary[int(g.Float64()*g.Float64()*float64(len(vocabulary)))]
}

func (g generator) sentences(n int) string {
	var b strings.Builder
	for range n {
		for range 6 + g.IntN(10) {
			b.WriteString(g.word() + " ")
		}
		b.WriteString(g.word() + ". ")
	}
	return b.String()
}

func (g generator) page(title string, links ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=en><head><title>%s</title></head>\n<body><nav>%s</nav>\n<main><h1>%[1]s</h1>\n",
		html.EscapeString(title), strings.Join(links, "\n"))
	for range 2 + g.IntN(3) {
		fmt.Fprintf(&b, "<h2>%s %s</h2>\n<p>%s</p>\n", g.word(), g.word(), g.sentences(2+g.IntN(4)))
	}
	b.WriteString("</main></body></html>\n")
	return b.String()
}
