package compress

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

func TestAccepts(t *testing.T) {
	for field, want := range map[string]bool{
		"": false, "gzip": true, "deflate, GZIP;q=0.5": true, "br, *": true, "gzip;q=0, *": false, "*;q=0": false, "identity": false, "gzip;q=x": false,
	} {
		if got := accepts([]string{field}); got != want {
			t.Errorf("Accept-Encoding: %s: %v", field, got)
		}
	}
}

// ask sends a request to a handler behind Handler, and returns the answer with its content
// decompressed.
func ask(t *testing.T, method string, h http.HandlerFunc, header ...string) (w *httptest.ResponseRecorder, content string) {
	t.Helper()
	r := httptest.NewRequest(method, "/", nil)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	w = httptest.NewRecorder()
	Handler(h).ServeHTTP(w, r)
	if w.Header().Get("Content-Encoding") != "gzip" || method == "HEAD" {
		return w, w.Body.String()
	}
	zip, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return w, string(all)
}

func TestHandler(t *testing.T) {
	long, short := strings.Repeat("words and ", 200), "words"
	for _, test := range []struct {
		name, media, content string
		status               int
		accept               string
		compressed, varies   bool
	}{
		{"HTML", "text/html; charset=utf-8", long, 200, "gzip", true, true},
		{"JSON", "application/json", long, 200, "gzip", true, true},
		{"a problem", "application/problem+json", long, 400, "gzip", true, true},
		{"lines", "application/x-ndjson", long, 200, "gzip", true, true},
		{"a feed", "application/atom+xml", long, 200, "gzip", true, true},
		{"an image", "image/png", long, 200, "gzip", false, false},
		{"no type", "", long, 200, "gzip", false, false},
		{"a short text", "text/html", short, 200, "gzip", false, true},
		{"a client without gzip", "text/html", long, 200, "", false, true},
		{"no content", "text/html", "", 204, "gzip", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, content := ask(t, "GET", func(w http.ResponseWriter, _ *http.Request) {
				if test.media != "" {
					w.Header().Set("Content-Type", test.media)
				} else {
					w.Header()["Content-Type"] = nil
				}
				w.WriteHeader(test.status)
				for piece := range slices.Chunk([]byte(test.content), 7) {
					_, _ = w.Write(piece)
				}
			}, "Accept-Encoding: "+test.accept)
			if w.Code != test.status || content != test.content {
				t.Errorf("%d %q", w.Code, content)
			}
			if compressed := w.Header().Get("Content-Encoding") == "gzip"; compressed != test.compressed {
				t.Errorf("compressed: %v", compressed)
			}
			if varies := slices.Contains(w.Header().Values("Vary"), "Accept-Encoding"); varies != test.varies {
				t.Errorf("Vary: %v", w.Header().Values("Vary"))
			}
		})
	}
}

// TestContent checks Handler around http.ServeContent, as stored pages are served.
func TestContent(t *testing.T) {
	long := strings.Repeat("words and ", 200)
	serve := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("ETag", `"tag"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(long))
	}
	w, content := ask(t, "GET", serve, "Accept-Encoding: gzip")
	if content != long || w.Header().Get("ETag") != `W/"tag"` || w.Header().Get("Content-Length") != "" {
		t.Errorf("%v %q", w.Header(), content)
	}
	if w, _ := ask(t, "GET", serve, "Accept-Encoding: gzip", `If-None-Match: W/"tag"`); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("the same again: %d %s", w.Code, w.Body)
	}
	if w, content := ask(t, "GET", serve, "Accept-Encoding: gzip", "Range: bytes=1-1500"); w.Code != http.StatusPartialContent || content != long[1:1501] {
		t.Errorf("a part: %d %v", w.Code, w.Header())
	}
	if w, _ := ask(t, "HEAD", serve, "Accept-Encoding: gzip"); w.Header().Get("Content-Encoding") != "gzip" || w.Header().Get("Content-Length") != "" || w.Body.Len() != 0 {
		t.Errorf("HEAD: %v", w.Header())
	}
}

// TestFlush checks that a client can read what was flushed before the answer has ended.
func TestFlush(t *testing.T) {
	var flushed bytes.Buffer
	w, content := ask(t, "GET", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, "first\n")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		flushed.Write(w.(*writer).ResponseWriter.(*httptest.ResponseRecorder).Body.Bytes())
		_, _ = io.WriteString(w, "second\n")
	}, "Accept-Encoding: gzip")
	if content != "first\nsecond\n" || !w.Flushed {
		t.Errorf("%q", content)
	}
	zip, err := gzip.NewReader(&flushed)
	if err != nil {
		t.Fatal(err)
	}
	begin := make([]byte, 6)
	if _, err := io.ReadFull(zip, begin); err != nil || string(begin) != "first\n" {
		t.Errorf("flushed %q: %v", begin, err)
	}
}
