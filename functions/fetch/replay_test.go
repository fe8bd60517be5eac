package fetch

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/warc"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

var captured = time.Date(2024, 5, 6, 7, 8, 9, 123e6, time.UTC)

// captureOf returns the capture of a page with the given body and HTTP header. The header is given
// as alternating names and values of its fields.
func captureOf(body string, fields ...string) warc.Capture {
	c := warc.Capture{Time: captured, Status: 200, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(body)}
	for i := 0; i < len(fields); i += 2 {
		c.Header.Set(fields[i], fields[i+1])
	}
	return c
}

func replay(t *testing.T, w *world, captures map[string]warc.Capture, urls ...string) spool.Spool {
	t.Helper()
	b := batch.Batch{Version: layout.Version{Epoch: 9, Token: 1}, Host: "example.org"}
	var answers []warc.Capture
	for _, url := range urls {
		b.Targets = append(b.Targets, batch.Target{URL: url, Depth: 1, Collections: []string{"c"}})
		answers = append(answers, captures[url])
	}
	s, err := w.Replay(t.Context(), b, answers)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spool.Encode(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReplayIsRun replays a page from an archive: its Web object must be the same as if the page
// had been fetched, except for times and version.
func TestReplayIsRun(t *testing.T) {
	const html = "<title>T</title><p>Some words to be stored. <a href=/b>B</a><meta name=robots content=noindex>"
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/b" {
			http.Redirect(w, r, "/a", http.StatusFound)
			return
		}
		w.Header()["Date"] = nil
		w.Header().Set("ETag", `"1"`)
		respond(200, "text/html; charset=utf-8", html)(w, r)
	}))
	a, b := w.server.URL+"/a", w.server.URL+"/b"
	ran := w.run(t, w.batch("/a", "/b"))
	replayed := replay(t, w, map[string]warc.Capture{
		a: captureOf(html, "ETag", `"1"`),
		b: {Time: captured, Status: 302, Header: http.Header{"Location": {"/a"}}},
	}, a, b)
	for i, o := range replayed.Ledger.Outcomes {
		want := ran.Ledger.Outcomes[i]
		if !o.Time.Equal(captured) {
			t.Errorf("time of %s is %s", o.URL, o.Time)
		}
		o.Time, o.Version, o.Depth, o.Exponent = want.Time, want.Version, want.Depth, want.Exponent
		if diff := cmp.Diff(want, o); diff != "" {
			t.Error(diff)
		}
	}
	if len(ran.Ledger.Links) != len(replayed.Ledger.Links) || len(replayed.Pages) != 1 {
		t.Errorf("%d pages; links %v and %v", len(replayed.Pages), ran.Ledger.Links, replayed.Ledger.Links)
	}
}

func TestReplay(t *testing.T) {
	const long = "a page of so many words that two of them are alike if only one or two of these words differ in the texts of both pages"
	w := newWorld(t, http.NotFoundHandler())
	packed := func(wrap func(*bytes.Buffer)) string {
		var b bytes.Buffer
		wrap(&b)
		return b.String()
	}
	html := "<title>T</title><p>" + long
	captures := map[string]warc.Capture{
		"http://example.org/zlib": captureOf(packed(func(b *bytes.Buffer) { z := zlib.NewWriter(b); _, _ = z.Write([]byte(html)); _ = z.Close() }), "Content-Encoding", "deflate"),
		"http://example.org/raw":  captureOf(packed(func(b *bytes.Buffer) { z, _ := flate.NewWriter(b, 9); _, _ = z.Write([]byte(html)); _ = z.Close() }), "Content-Encoding", "deflate"),
		"http://example.org/odd":  captureOf("nonsense", "Content-Encoding", "deflate"),
		"http://example.org/gone": {Time: captured, Status: 404, Header: http.Header{}},
		"http://example.org/png":  captureOf("\x89PNG\r\n\x1A\n", "Content-Type", "image/png"),
		"http://example.org/p?a":  captureOf("<link rel=canonical href=/p>" + html),
		"http://example.org/q?a":  captureOf("<link rel=canonical href=/q>"+html, "ETag", `"2"`),
		"http://example.org/p":    captureOf(html),
		"http://example.org/big":  captureOf(string(make([]byte, w.Limits.Page+1))),
	}
	cut := captureOf(html)
	cut.Cut = "length"
	captures["http://example.org/cut"] = cut
	urls := []string{"zlib", "raw", "odd", "gone", "png", "p?a", "q?a", "p", "big", "cut"}
	for i := range urls {
		urls[i] = "http://example.org/" + urls[i]
	}
	s := replay(t, w, captures, urls...)
	want := []end{
		{book.Stored, ""}, {book.Stored, ""}, {book.Failed, "encoding"}, {book.Failed, "http 404"}, {book.Skipped, "type"},
		{book.Skipped, "canonical"}, {book.Stored, ""}, {book.Stored, ""}, {book.Skipped, "too big"}, {book.Stored, book.Cut},
	}
	if diff := cmp.Diff(want, ends(s)); diff != "" {
		t.Error(diff)
	}
	if o := s.Ledger.Outcomes[6]; o.ETag != "" || o.Body != 0 {
		t.Errorf("a page whose canonical address is not proved would not be asked for in full: %+v", o)
	}
	if o := s.Ledger.Outcomes[9]; o.Detail != "without what the archive cut off: length" {
		t.Errorf("detail %q", o.Detail)
	}
}

// TestReplayLimit replays a batch whose pages exceed the limit in bytes. The remaining targets must
// stay "not asked", for a later batch.
func TestReplayLimit(t *testing.T) {
	w := newWorld(t, http.NotFoundHandler())
	w.Limits.Batch = 10
	some := captureOf("<p>More than ten bytes.")
	s := replay(t, w, map[string]warc.Capture{"http://example.org/1": some, "http://example.org/2": some}, "http://example.org/1", "http://example.org/2")
	if diff := cmp.Diff([]end{{book.Stored, ""}, {book.NotAsked, ""}}, ends(s)); diff != "" {
		t.Error(diff)
	}
}
