package tests

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
)

// A page shows an image and has texts about it, such as an alt text or a caption. A search for
// images must find the image by these texts. Chromium must show stored images on the page of
// results without a request to their site.
func TestImages(t *testing.T) {
	t.Parallel()
	rare := color.RGBA{R: 201, G: 17, B: 143, A: 255}
	page := func(title, more string) answer {
		return answer{status: http.StatusOK, contentType: "text/html", body: "<!DOCTYPE html><html lang=en><title>" + title + "</title><main><h1>" + title + "</h1><p>" +
			strings.Repeat("The lake is quiet in the morning, and the boats have not left yet. ", 5) + "</p>" + more + "</main>"}
	}
	s := serve(t, 2, func(i int, origins []string) http.Handler {
		dot := answer{status: http.StatusOK, contentType: "image/png", body: plainPNG(t, rare)}
		if i == 1 {
			return host{"/img/swan.png": dot}
		}
		return host{
			"/docs/":               page("The lake", `<figure><img src="/img/heron.png" alt="A grey heron"><figcaption>Hunting at dawn</figcaption></figure>`+link("more.html")),
			"/docs/more.html":      page("More birds", `<img src="/img/heron.png"><img src="`+origins[1]+`/img/swan.png" alt="A swan beside a heron"><img src="/img/gone-heron.png"><img src="/img/moved-heron.png">`),
			"/img/moved-heron.png": {status: http.StatusFound, location: "/img/heron.png"},
			"/img/heron.png":       dot,
		}
	})
	heron, swan := s.origins[0]+"/img/heron.png", s.origins[1]+"/img/swan.png"
	gone, moved := s.origins[0]+"/img/gone-heron.png", s.origins[0]+"/img/moved-heron.png"
	p := newPlace(t)
	docs := p.file("docs", []string{s.origins[0] + "/docs/"}, "scope = \"prefix\"\nassets = true\n")
	p.must("crawl", "--collection", docs)
	p.verify()
	heronImages := func() map[string]bool { // address → whether a copy is stored
		stored := make(map[string]bool)
		for _, r := range decode[engine.Answer](t, p.must("search", "--json", "heron type:image")).Results {
			stored[r.Image.URL] = r.Image.Stored
		}
		return stored
	}
	if diff := cmp.Diff(map[string]bool{heron: true, swan: true, gone: false, moved: true}, heronImages()); diff != "" {
		t.Errorf("stored images (-want +got):\n%s", diff)
	}
	if out := p.must("search", "heron type:image"); !strings.Contains(out, " 1. A grey heron\n    "+heron+"\n    Hunting at dawn\n    on "+s.origins[0]+"/docs/ and 1 more page (stored)\n") ||
		!strings.Contains(out, "4 images match") {
		t.Errorf("printed:\n%s", out)
	}
	if pages := p.search("swan"); len(pages) > 0 {
		t.Errorf("the word of an image finds the pages %q", pages)
	}

	run := p.start("up", "--listen", "127.0.0.1:0", "--allow-private")
	home := run.searchPage(t)
	s.forget()
	shot := filepath.Join(t.ArtifactDir(), "images.png")
	chromium(t, "--screenshot="+shot, "--window-size=1280,900", home+"search?q="+url.QueryEscape("heron type:image"))
	if !shows(t, shot, rare) {
		t.Errorf("%s shows no stored image", shot)
	}
	for _, v := range s.forget() {
		t.Errorf("a page of results has loaded %s", v.url)
	}
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := run.wait(); err != nil {
		t.Error(err)
	}

	p.must("forget", "--yes", heron)
	if diff := cmp.Diff(map[string]bool{swan: true, gone: false, moved: false}, heronImages()); diff != "" {
		t.Errorf("without the heron (-want +got):\n%s", diff)
	}
	p.must("forget", "--yes", s.origins[0]+"/docs/more.html")
	if left := heronImages(); len(left) > 0 {
		t.Errorf("without its page: %v", left)
	}
}

// plainPNG returns an image of one colour.
func plainPNG(t *testing.T, c color.RGBA) string {
	t.Helper()
	square := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 * 64 {
		square.SetRGBA(i%64, i/64, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, square); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// shows reports whether a screenshot has a pixel of the colour.
func shows(t *testing.T, path string, c color.RGBA) bool {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	screen, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for y := range screen.Bounds().Dy() {
		for x := range screen.Bounds().Dx() {
			if color.RGBAModel.Convert(screen.At(x, y)) == c {
				return true
			}
		}
	}
	return false
}
