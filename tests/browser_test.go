package tests

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/tests/browser"
)

// lively is a page with scripts that change it, and with files of many kinds that it loads. The
// URLs of the files begin with ORIGIN, which the test replaces by the address of a site. When a
// browser shows the stored copy of the page, no script may change the page, and none of the files
// may be loaded.
const lively = `<!DOCTYPE html><html lang="en"><head><title>The quiet harbour</title>
<link rel="stylesheet" href="ORIGIN/loaded.css"><script src="ORIGIN/loaded.js"></script>
<script>document.title = "Taken over"; addEventListener("DOMContentLoaded", () => { document.body.append("Added by a script") })</script>
</head><body onload="document.title = 'Taken over'"><h1>The quiet harbour</h1>
<p>Fishing boats sleep in the quiet harbour while the lighthouse counts the hours.</p>
<img src="ORIGIN/loaded.png" onerror="document.title = 'Taken over'"><iframe src="ORIGIN/loaded.html"></iframe>
</body></html>`

// Chromium shows the search page and stored copies of pages. The scripts of a stored page do
// not run.
func TestBrowser(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, func(_ int, origins []string) http.Handler {
		h := generate(1, 30, origins[0], "http://127.0.0.1")
		h["/docs/"] = answer{status: http.StatusOK, contentType: "text/html", body: strings.ReplaceAll(lively, "ORIGIN", origins[0]) + link("p0.html")}
		return h
	})
	p := newPlace(t)
	run := p.start("up", crawling("--listen", "127.0.0.1:0", "--scope", "prefix", s.origins[0]+"/docs/")...)
	home := run.searchPage(t)
	run.await(t, func() bool { status := p.status(); return status.Pending == 0 && status.Documents > 30 })
	s.forget()

	results := home + "search?q=" + url.QueryEscape("quiet harbour lighthouse")
	run.await(t, func() bool { return strings.Contains(get(t, results), "<mark>") }) // manifests may be a moment old
	shown := browse(t, "results", results)
	for _, want := range []string{"<mark>quiet</mark>", "<mark>lighthouse</mark>", "stored copy", s.origins[0] + "/docs/"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page of results shows no %q:\n%s", want, shown)
		}
	}
	if shown := browse(t, "home", home); !strings.Contains(shown, `type="search"`) {
		t.Errorf("the search page has no box:\n%s", shown)
	}

	stored := browse(t, "stored copy", home+"page?url="+url.QueryEscape(s.origins[0]+"/docs/"))
	if !strings.Contains(stored, "Fishing boats sleep") {
		t.Errorf("the stored copy does not show the page:\n%s", stored)
	}
	if !strings.Contains(stored, "<title>The quiet harbour</title>") || strings.Contains(stored, "<body>Added by a script") ||
		strings.Contains(stored, "Added by a script\n</body>") {
		t.Errorf("a script has changed the stored copy:\n%s", stored)
	}
	framed := browse(t, "stored copy in its frame", home+"copy?q=harbour&url="+url.QueryEscape(s.origins[0]+"/docs/"))
	if !strings.Contains(framed, "<title>Stored copy of The quiet harbour – Bucketsearch</title>") {
		t.Errorf("the stored copy has no frame:\n%s", framed)
	}
	for _, v := range s.forget() {
		t.Errorf("the stored copy has loaded %s", v.url)
	}
	// The original page does everything that its stored copy must not do.
	if live := chromium(t, "--dump-dom", s.origins[0]+"/docs/"); !strings.Contains(live, "<title>Taken over</title>") {
		t.Errorf("the page proves nothing, since its script does not run:\n%s", live)
	}
	if len(s.forget()) < 4 {
		t.Error("the page proves nothing, since it loads nothing")
	}
}

func get(t testing.TB, address string) string {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil {
		t.Fatal(err)
	}
	return body.String()
}

// browse opens a page in Chromium and returns its HTML. It also writes screenshots of the page
// in the size of a phone and of a wide screen.
func browse(t *testing.T, name, address string) string {
	t.Helper()
	var dom string
	for _, screen := range []struct {
		name          string
		width, height int
	}{{"phone", 500, 900}, {"wide", 1280, 900}} {
		path := filepath.Join(t.ArtifactDir(), name+", "+screen.name+".png")
		dom = chromium(t, "--dump-dom", "--screenshot="+path, fmt.Sprintf("--window-size=%d,%d", screen.width, screen.height), address)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		image, err := png.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if size := image.Bounds().Size(); size.X != screen.width || size.Y != screen.height {
			t.Errorf("%s has the size %v", path, size)
		}
	}
	return dom
}

// chromium runs Chromium without a window and returns what it prints.
func chromium(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "chromium", append(browser.Flags(t), args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium %v: %v\n%s", args, err, said.String())
	}
	return string(out)
}
