package fetch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

const megabyte = 1 << 20

// hostile is an answer by which a server attacks a crawler, and the outcome that is expected for
// it.
type hostile struct {
	name   string
	answer http.HandlerFunc
	want   end
}

// hostiles are attacks on the transfer, its framing, coding and header, and on the parsers of
// pages.
func hostiles(t testing.TB) []hostile {
	const (
		head    = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
		last    = "Connection: close\r\n" // else the next request might read the bytes after the response
		chunked = head + "Transfer-Encoding: chunked\r\n\r\n"

		kilobytes = 256 << 10
	)
	stored, cut, retry, failed, skipped := end{book.Stored, ""}, end{book.Stored, book.Cut}, book.Retry, book.Failed, book.Skipped
	tooBig, bomb, cutShort := end{skipped, "too big"}, end{skipped, "bomb"}, end{retry, "cut short"}
	encodingFails, connection, timeout := end{failed, "encoding"}, end{retry, "connection"}, end{retry, "timeout"}
	big := io.LimitReader(zeros{}, 4*megabyte)
	small := gzipped(t, strings.NewReader("<p>small"))
	broken := bytes.Clone(small)
	broken[len(broken)-8] ^= 1 // damages the checksum
	one := func(html string) http.HandlerFunc { return respond(200, "text/html", html) }
	endless := func(coding string, piece []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", coding)
			_, _ = io.Copy(w, io.LimitReader(repeat(piece, &served), 1<<30))
		}
	}
	location := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Location"] = []string{to}
			w.WriteHeader(http.StatusFound)
		}
	}
	return []hostile{
		// Bodies without end.
		{"claims 1 GB", raw(head + "Content-Length: 1073741824\r\n\r\n<p>"), tooBig},
		{"sends 1 GB", endless("", []byte("<p>more")), tooBig},
		{"sends without end, no length", rawThen(head+"\r\n", make([]byte, 4096)), tooBig},
		{"small chunks without end", rawThen(chunked, []byte("20\r\n"+strings.Repeat("x", 32)+"\r\n")), tooBig},
		{"image without end", rawThen("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", make([]byte, 4096)), end{skipped, "type"}},
		{"error without end", rawThen("HTTP/1.1 404 No\r\n\r\n", make([]byte, 4096)), end{failed, "http 404"}},
		{"redirect without end", rawThen("HTTP/1.1 302 No\r\nLocation: /next\r\n\r\n", make([]byte, 4096)), end{skipped, "redirect"}},
		{"trickle", trickle(200, "text/html"), end{retry, "too slow"}},
		{"error that trickles", trickle(404, "text/html"), end{failed, "http 404"}},
		{"body never comes", hang(head + "Content-Length: 10\r\n\r\n"), timeout},

		// Framing that lies.
		{"body cut short", raw(head + "Content-Length: 100\r\n\r\n<p>"), cutShort},
		{"chunk cut short", raw(chunked + "ff\r\n<p>"), cutShort},
		{"negative length", raw(head + "Content-Length: -1\r\n\r\n<p>"), connection},
		{"two lengths", raw(head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n<p>x"), connection},
		{"huge length", raw(head + "Content-Length: 99999999999999999999\r\n\r\n<p>"), connection},
		{"chunk size is no number", raw(chunked + "zz\r\n<p>"), connection},
		{"huge chunk", raw(chunked + "ffffffffffffffffff\r\n<p>"), connection},
		{"chunk extensions without end", rawThen(chunked, []byte("1;"+strings.Repeat("x", 4000)+"\r\nx\r\n")), connection},
		{"trailers without end", rawThen(chunked+"0\r\n", []byte("X: y\r\n")), connection},
		{"unknown transfer coding", raw(head + "Transfer-Encoding: chained\r\n\r\n<p>"), connection},
		{"more than one answer", raw(head + last + "Content-Length: 3\r\n\r\n<p>" + head + "Content-Length: 6\r\n\r\n<p>bad"), stored},
		{"body of no content", raw("HTTP/1.1 204 No\r\nContent-Type: text/html\r\n" + last + "Content-Length: 6\r\n\r\n<p>bad"), stored},

		// Content codings.
		{"gzip bomb", encoding("gzip", gzipped(t, io.LimitReader(zeros{}, 4*megabyte))), bomb},
		{"brotli bomb", encoding("br", brotlied(t, io.LimitReader(zeros{}, 4*megabyte))), bomb},
		{"zstd bomb", encoding("zstd", zstded(t, big)), bomb},
		{"gzip without end", endless("gzip", gzipped(t, strings.NewReader(""))), tooBig},
		{"zstd frames to skip without end", endless("zstd", append([]byte{0x50, 0x2a, 0x4d, 0x18, 0, 4, 0, 0}, strings.Repeat("skip", 256)...)), tooBig},
		{"zstd window of 1 GB", encoding("zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xa0, 1, 0, 0}), encodingFails},
		{"gzip in gzip", encoding("gzip, gzip", gzipped(t, bytes.NewReader(small))), encodingFails},
		{"unknown coding", encoding(strings.Repeat("compress", 1000), small), encodingFails},
		{"no gzip", encoding("gzip", []byte("<p>this is plain text")), encodingFails},
		{"no brotli", encoding("br", []byte("<p>this is plain text")), encodingFails},
		{"no zstd", encoding("zstd", []byte("<p>this is plain text")), encodingFails},
		{"gzip with a wrong checksum", encoding("gzip", broken), encodingFails},
		{"gzip cut short", encoding("gzip", small[:len(small)-9]), cutShort},
		{"brotli cut short", encoding("br", brotlied(t, strings.NewReader("<p>small"))[:6]), cutShort},
		{"zstd cut short", encoding("zstd", zstded(t, strings.NewReader("<p>small"))[:8]), cutShort},

		// Headers.
		{"no answer", hang(""), timeout},
		{"closes at once", raw(""), connection},
		{"header trickles", hang("HTTP/1.1 200 OK\r\nX: "), timeout},
		{"no HTTP", raw("220 mail.test ESMTP\r\n"), connection},
		{"no HTTP without end", rawThen("", make([]byte, 4096)), end{failed, "header too big"}},
		{"status is no number", raw("HTTP/1.1 abc OK\r\n\r\n"), connection},
		{"status 999", raw("HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n"), end{failed, "http 999"}},
		{"switches protocols", raw("HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), end{failed, "http 101"}},
		{"one huge line", raw(head + "X: " + strings.Repeat("x", megabyte) + "\r\n\r\n"), end{failed, "header too big"}},
		{"lines without end", rawThen(head, []byte("Set-Cookie: a=b\r\n")), end{failed, "header too big"}},
		{"hints without end", rawThen("", []byte("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")), end{failed, "header too big"}},
		{"zero bytes in a header", raw(head + "X: \x00\r\n\r\n"), connection},
		{"60 KB of content type", raw("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=" + strings.Repeat("x", 60_000) + "\r\nContent-Length: 3\r\n\r\n<p>"), stored},
		{"redirect to itself", location("/bad"), end{skipped, "redirect"}},
		{"redirect to a file", location("file:///etc/passwd"), end{failed, "bad redirect"}},
		{"redirect to a script", location("javascript:alert(1)"), end{failed, "bad redirect"}},
		{"redirect of 60 KB", location("/" + strings.Repeat("x", 60_000)), end{failed, "bad redirect"}},
		{"redirect to garbage", location("http://[::1%25\xff]:x/"), end{failed, "bad redirect"}},

		// Pages that break parsers.
		{"binary as HTML", one("\x00\x01\x02\x03"), end{skipped, "type"}},
		{"deep nesting", one("<p>" + strings.Repeat("<b><i><div>", kilobytes/11)), stored},
		{"formatting without end tags", one(strings.Repeat("<p><b>", 20_000)), stored},
		{"64,000 attributes", one("<p " + strings.Repeat("a=b ", kilobytes/4) + ">"), cut},
		{"attributes of 20,000 names", one("<p " + numbered("a%d=b ", 20_000) + ">"), cut},
		{"50,000 links", one(numbered("<a href=/%d>x</a>", 50_000)), stored},
		{"comment without end", one("<p><!--" + strings.Repeat("-", kilobytes)), stored},
		{"script without end", one("<p><script>" + strings.Repeat("<script><!--", kilobytes/12)), end{book.Stored, book.NeedsScripts}},
		{"entities", one(strings.Repeat("&CounterClockwiseContourIntegral;", kilobytes/33)), stored},
		{"tags cut short", one(strings.Repeat("<a href=\"", kilobytes/9)), cut},
		{"no character of its charset", respond(200, "text/html; charset=gb18030", strings.Repeat("\xff", kilobytes)), stored},
		{"UTF-16 of odd length", respond(200, "text/html; charset=utf-16", strings.Repeat("\xd8\x00", 100_000)+"x"), stored},
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// trickle returns a handler that sends one byte every 5 milliseconds, without end.
func trickle(status int, contentType string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
				_, _ = io.WriteString(w, "x")
				_ = http.NewResponseController(w).Flush()
			}
		}
	}
}

// hang returns a handler that sends the given bytes, and then nothing until the client hangs up.
func hang(response string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer connection.Close()
		_, _ = io.WriteString(connection, response)
		_, _ = io.Copy(io.Discard, connection)
	}
}

// hostileWorld returns a world whose server gives the hostile answer at the given path, and good
// pages at all others. Pauses between requests take no real time. The time limit of a request is
// a second if a timeout is the expected outcome. Otherwise it is a minute, so that a timeout cannot
// hide that another limit fails. Good pages must come within each limit also on a busy machine.
func hostileWorld(t testing.TB, path string, h hostile) *world {
	mux := http.NewServeMux()
	mux.HandleFunc("/", respond(200, "text/html", "<p>good"))
	mux.HandleFunc(path, h.answer)
	w := newWorld(t, mux)
	w.Now, w.Sleep = time.Now, func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	w.Limits = Limits{Page: 2 * megabyte, Batch: 16 * megabyte, Together: 16 * megabyte, Request: time.Minute, Grace: time.Second, Margin: time.Second}
	if h.want.Reason == "timeout" {
		w.Limits.Request = time.Second
	}
	return w
}

// runWithin runs a batch, which must read and allocate at most the given numbers of bytes. Bytes
// in the buffers of the network count as read, and all memory that was allocated counts, not only
// the memory in use at once.
func (w *world) runWithin(t testing.TB, b batch.Batch, read int64, allocated uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	servedBefore := served.Load()
	if err := w.Run(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := served.Load() - servedBefore; n > read {
		t.Errorf("%d bytes were served, want at most %d", n, read)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > allocated {
		t.Errorf("%d bytes were allocated, want at most %d", n, allocated)
	}
}

// TestHostile fetches each attack between two good pages. The attack must end within the limits and
// with its expected reason, and the good pages must be stored. The one after the attack may stay
// unrequested if the attack takes all the time of the batch.
func TestHostile(t *testing.T) {
	var first, after runtime.MemStats
	attacks := hostiles(t)
	runtime.GC()
	runtime.ReadMemStats(&first)
	for i, h := range attacks {
		if i%racetest.Rounds(1, 5) != 0 {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			w := hostileWorld(t, "/bad", h)
			b := w.batch("/before", "/bad", "/after")
			b.Deadline = time.Now().Add(time.Minute)
			w.runWithin(t, b, 64*megabyte, 256*megabyte)
			got := w.stored(t, b)
			good := end{book.Stored, ""}
			if diff := cmp.Diff([]end{good, h.want, good}, ends(got)); diff != "" {
				t.Errorf("%s\n%s", diff, got.Ledger.Outcomes[1].Detail)
			}
			for _, p := range got.Pages {
				if one, err := p.Run.Object(); err != nil || !strings.HasSuffix(one.URL, "/bad") && string(one.Data) != "<p>good" {
					t.Errorf("%s is %.40q: %v", one.URL, one.Data, err)
				}
			}
			if n := len(got.Ledger.Links); n > 50_010 {
				t.Errorf("%d links", n)
			}
		})
	}
	runtime.GC()
	runtime.GC() // pools are emptied only by the second collection
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(first.HeapAlloc); grown > 32*megabyte {
		t.Errorf("%d MB of memory are left over", grown/megabyte)
	}
}

// TestHostileRobots requests a robots.txt that attacks the crawler. The request must end, and the
// attack must not add a rule.
func TestHostileRobots(t *testing.T) {
	down := end{book.Retry, "robots unreachable"}
	stored := end{book.Stored, ""}
	for name, c := range map[string]struct {
		robots http.HandlerFunc
		want   end
		reason string // reason with which the request of the robots.txt ends
	}{
		"without end":           {rawThen("HTTP/1.1 200 OK\r\n\r\n", []byte("Disallow: /x\n")), stored, ""},
		"gzip bomb":             {encoding("gzip", gzipped(t, io.LimitReader(zeros{}, 4*megabyte))), stored, ""},
		"trickle":               {trickle(200, "text/plain"), down, ""},
		"never comes":           {hang(""), down, "timeout"},
		"no gzip":               {encoding("gzip", []byte("User-agent: *")), down, ""},
		"patterns against time": {respond(200, "text/plain", "User-agent: *\nDisallow: /"+strings.Repeat("*a", 900)+"b$\n"), stored, ""},
		"a delay of a year":     {respond(200, "text/plain", "User-agent: *\nCrawl-delay: 31536000\n"), stored, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := hostileWorld(t, "/robots.txt", hostile{name, c.robots, end{Reason: c.reason}})
			b := w.batch("/" + strings.Repeat("a", 900))
			b.Robots, b.Deadline = []string{w.server.URL}, time.Now().Add(5*time.Minute)
			if diff := cmp.Diff([]end{c.want}, ends(w.run(t, b))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHostileHTTP2 lets a server attack by means that only HTTP/2 has.
func TestHostileHTTP2(t *testing.T) {
	header := func(lines int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := range lines {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 4000))
			}
		}
	}
	for name, c := range map[string]hostile{
		"page":      {answer: respond(200, "text/html", "<p>good"), want: end{book.Stored, ""}},
		"no answer": {answer: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, want: end{book.Retry, "timeout"}},
		"resets":    {answer: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, want: end{book.Retry, "connection"}},
		"without end": {answer: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.Copy(w, io.LimitReader(repeat([]byte("<p>more"), &served), 1<<30))
		}, want: end{book.Skipped, "too big"}},
		"huge header": {answer: header(200), want: end{book.Retry, "connection"}},
		"body cut short": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "<p>")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, want: end{book.Retry, "connection"}},
	} {
		t.Run(name, func(t *testing.T) {
			var version atomic.Int64
			w := hostileWorld(t, "/bad", c)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				version.Store(int64(r.ProtoMajor))
				c.answer(w, r)
			}))
			server.EnableHTTP2 = true
			server.StartTLS()
			t.Cleanup(server.Close)
			transport := Transport(true)
			transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
			t.Cleanup(transport.CloseIdleConnections)
			w.Transport = transport
			b := w.batch("")
			b.Targets[0].URL, b.Deadline = server.URL+"/", time.Now().Add(time.Minute)
			got := w.run(t, b)
			if diff := cmp.Diff([]end{c.want}, ends(got)); diff != "" {
				t.Errorf("%s\n%s", diff, got.Ledger.Outcomes[0].Detail)
			}
			if v := version.Load(); v != 2 {
				t.Errorf("HTTP/%d was spoken", v)
			}
		})
	}
}
