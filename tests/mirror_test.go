package tests

import (
	"cmp"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shown is the first page of TestMirror, with a style sheet, a script and an image.
const shown = `<!DOCTYPE html><html><head><meta charset="utf-8"><title>First</title>
<link rel="stylesheet" href="/static/page.css" integrity="sha256-AAAA" crossorigin><script src="/static/seen.js"></script></head>
<body><h1>The mirrored page</h1><img id="image" src="OTHER/dot.png" alt="dot"><a id="next" href="/docs/next?page=2#there">next</a></body></html>`

// look is the script of both pages of TestMirror. On the first page, it checks whether the image
// and the style sheet were loaded, and then follows the link to the second page. There it shows
// what it has found on the first.
const look = `addEventListener("load", () => {
	const told = sessionStorage.getItem("seen") ?? new URLSearchParams(location.hash.split("?")[1] ?? "").get("seen")
	const image = document.getElementById("image")
	if (image) {
		const seen = "width " + image.naturalWidth + ", colour " + getComputedStyle(document.body).color + ", background " +
			(getComputedStyle(document.body).backgroundImage.startsWith("url(\"file:") ? "of a file" : "live")
		const link = document.getElementById("next")
		link.href = link.href + "?seen=" + encodeURIComponent(seen)
		link.click()
	} else {
		document.body.append("Seen: " + told + "; before " + document.referrer)
	}
})`

// Chromium shows the exported mirror of a site while the site is down: a page has its image and
// style, and its link leads to the copy of the next page.
func TestMirror(t *testing.T) {
	t.Parallel()
	const dot = "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x01D\x00;"
	s := serve(t, 2, func(i int, origins []string) http.Handler {
		h := host{ // a host of which only assets are stored
			"/dot.png":  {contentType: "image/gif", body: dot},
			"/font.css": {contentType: "text/css", body: "h1{color:blue}"},
			"/":         {body: "<title>Not wanted</title>"},
		}
		if i == 0 {
			h = host{
				"/docs/":            {body: strings.ReplaceAll(shown, "OTHER", origins[1])},
				"/docs/next?page=2": {body: `<!DOCTYPE html><title>Second</title><script src="/static/seen.js"></script><p id="there">The second page. <a href="` + origins[1] + `/">elsewhere</a>`},
				"/static/page.css":  {contentType: "text/css", body: `@import "` + origins[1] + `/font.css"; body{color:rgb(1,2,3);background:url(back.gif)}`},
				"/static/back.gif":  {contentType: "image/gif", body: dot},
				"/static/seen.js":   {contentType: "text/javascript", body: look},
			}
		}
		for path, a := range h {
			a.status, a.contentType = http.StatusOK, cmp.Or(a.contentType, "text/html")
			h[path] = a
		}
		return h
	})
	p := newPlace(t)
	p.must("crawl", "--collection", p.file("docs", []string{s.origins[0] + "/docs/"}, "scope = \"prefix\"\nassets = true\n"))
	p.verify()
	asked := make(map[string]bool)
	for _, v := range s.forget() {
		asked[v.url] = true
	}
	if asked[s.origins[1]+"/"] || !asked[s.origins[1]+"/font.css"] || len(asked) != 2+7 { // robots.txt of two origins, two pages and their assets
		t.Errorf("asked for %v", asked)
	}
	if status := p.status(); status.Documents != 2 {
		t.Errorf("%d documents, want those of the pages", status.Documents)
	}
	s.fail(true)

	mirror := filepath.Join(t.TempDir(), "mirror")
	p.must("export", "--format", "mirror", "-o", mirror)
	browser := chromium(t, "--dump-dom", "--virtual-time-budget=10000", "--allow-file-access-from-files", "file://"+filepath.ToSlash(mirror)+"/index.html")
	for _, want := range []string{"The second page", "Seen: width 1, colour rgb(1, 2, 3), background of a file"} {
		if !strings.Contains(browser, want) {
			t.Errorf("the mirror does not show %q:\n%s", want, browser)
		}
	}
	for _, v := range s.forget() {
		t.Errorf("the mirror has loaded %s", v.url)
	}
	if page, err := os.ReadFile(filepath.Join(mirror, "index.html")); err != nil || !strings.Contains(string(page), "http-equiv") {
		t.Errorf("index.html is %s, %v", page, err)
	}
}
