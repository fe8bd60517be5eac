package tests

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
)

// TestClickInBrowser opens a search page in Chromium, and a script there clicks results. The clicks
// must be stored. The command eval must be able to use them as judgments of the ranking.
func TestClickInBrowser(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, func(_ int, origins []string) http.Handler { return generate(1, 30, origins[0], "http://127.0.0.1") })
	p := newPlace(t)
	p.env = []string{"BUCKETSEARCH_CLICKS=0123456789abcdef"}
	run := p.start("up", crawling("--listen", "127.0.0.1:0", s.origins[0]+"/docs/")...)
	home := run.searchPage(t)
	run.await(t, func() bool { status := p.status(); return status.Pending == 0 && status.Documents > 30 })
	const search = "search?q=harbour"
	run.await(t, func() bool { return strings.Contains(get(t, home+search), "ping=") }) // manifests may be a moment old

	to, err := url.Parse(home)
	if err != nil {
		t.Fatal(err)
	}
	clicking := httptest.NewServer(clickingProxy(to))
	defer clicking.Close()
	var stored []string
	for attempt := 0; len(stored) < judgment.LeastClicks && attempt < 10; attempt++ { // a click may take the slot of an earlier one
		chromium(t, "--dump-dom", "--virtual-time-budget=2000", clicking.URL+"/"+search)
		if stored, err = filepath.Glob(filepath.Join(p.data, "*", "*", "clicks", "*", "*", "*.json")); err != nil {
			t.Fatal(err)
		}
	}
	if len(stored) != judgment.LeastClicks {
		t.Fatalf("clicks arrived: %v", stored)
	}
	if out := p.must("eval", "--clicked"); !strings.Contains(out, "1 query") {
		t.Errorf("eval says:\n%s", out)
	}
}

// clickingProxy returns a proxy of the search page at the given address. It adds a script to
// each page of results. The script clicks the first link of the page. The content security
// policy of the page stays in force, except for this script.
func clickingProxy(to *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Header.Del("Accept-Encoding") },
		ModifyResponse: func(r *http.Response) error {
			if !strings.HasPrefix(r.Request.URL.Path, "/search") {
				return nil
			}
			content, err := io.ReadAll(r.Body)
			content = append(content, `<script>document.querySelector("a[ping]").click()</script>`...)
			r.Body = io.NopCloser(bytes.NewReader(content))
			r.Header.Set("Content-Length", strconv.Itoa(len(content)))
			r.ContentLength = int64(len(content))
			r.Header.Set("Content-Security-Policy", strings.Replace(r.Header.Get("Content-Security-Policy"), "script-src", "script-src 'unsafe-inline'", 1))
			return err
		},
	}
}
