package fetch

import (
	"bytes"
	"compress/gzip"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

func gzipped(t testing.TB, content io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func encoding(name string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", name)
		_, _ = w.Write(body)
	}
}

// raw answers with bytes of its own and closes the connection.
func raw(response string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(connection, response)
		_ = connection.Close()
	}
}

// TestAnswers has every kind of good and bad answer end in a recorded reason,
// on the first attempt and on the last.
func TestAnswers(t *testing.T) {
	const megabyte = 1 << 20
	bomb := gzipped(t, io.LimitReader(zeros{}, 16*megabyte))
	packed := gzipped(t, strings.NewReader("<p>packed"))
	var streamed atomic.Int64
	endless := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		n, _ := io.Copy(w, io.LimitReader(zeros{}, 1<<30))
		streamed.Store(n)
	}
	trickle := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<p>")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	location := func(status int, to string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(status)
		}
	}
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	s, k, f, r := book.Stored, book.Skipped, book.Failed, book.Retry
	for name, c := range map[string]struct {
		handler     http.HandlerFunc
		first, last end
	}{
		"page":              {respond(200, "text/html", "<p>hello"), end{s, ""}, end{s, ""}},
		"plain text":        {respond(200, "text/plain", "hello"), end{s, ""}, end{s, ""}},
		"no type":           {raw("HTTP/1.1 200 OK\r\n\r\n<html>"), end{s, ""}, end{s, ""}},
		"no content":        {respond(204, "", ""), end{s, ""}, end{s, ""}},
		"empty":             {respond(200, "text/html", ""), end{s, ""}, end{s, ""}},
		"gzip":              {encoding("gzip", packed), end{s, ""}, end{s, ""}},
		"empty gzip":        {encoding("gzip", nil), end{s, ""}, end{s, ""}},
		"image":             {respond(200, "image/png", "\x89PNG"), end{k, "type"}, end{k, "type"}},
		"binary as HTML":    {respond(200, "text/html", "\x00\x01\x02\x03"), end{k, "type"}, end{k, "type"}},
		"redirect":          {location(301, "/elsewhere"), end{k, "redirect"}, end{k, "redirect"}},
		"redirect loop":     {location(302, "/first"), end{k, "redirect"}, end{k, "redirect"}},
		"redirect nowhere":  {location(302, ""), end{f, "http 302"}, end{f, "http 302"}},
		"redirect to FTP":   {location(302, "ftp://a/b"), end{f, "bad redirect"}, end{f, "bad redirect"}},
		"not modified":      {respond(304, "", ""), end{f, "http 304"}, end{f, "http 304"}},
		"not found":         {respond(404, "text/html", "<p>no"), end{f, "http 404"}, end{f, "http 404"}},
		"too many requests": {respond(429, "", ""), end{r, "http 429"}, end{f, "http 429"}},
		"server error":      {respond(500, "text/html", "<p>no"), end{r, "http 500"}, end{f, "http 500"}},
		"unavailable":       {respond(503, "", ""), end{r, "http 503"}, end{f, "http 503"}},
		"claims 1 GB":       {raw(head + "Content-Length: 1073741824\r\n\r\n<p>"), end{k, "too big"}, end{k, "too big"}},
		"sends 1 GB":        {endless, end{k, "too big"}, end{k, "too big"}},
		"bomb":              {encoding("gzip", bomb), end{k, "too big"}, end{k, "too big"}},
		"body cut short":    {raw(head + "Content-Length: 100\r\n\r\n<p>"), end{r, "cut short"}, end{f, "cut short"}},
		"chunk cut short":   {raw(head + "Transfer-Encoding: chunked\r\n\r\nff\r\n<p>"), end{r, "cut short"}, end{f, "cut short"}},
		"gzip cut short":    {encoding("gzip", packed[:len(packed)-9]), end{r, "cut short"}, end{f, "cut short"}},
		"no gzip":           {encoding("gzip", []byte("<p>this is plain text")), end{f, "encoding"}, end{f, "encoding"}},
		"brotli":            {encoding("br", []byte("x")), end{f, "encoding"}, end{f, "encoding"}},
		"trickle":           {trickle, end{r, "timeout"}, end{f, "timeout"}},
		"no HTTP":           {raw("220 mail.test ESMTP\r\n"), end{r, "connection"}, end{f, "connection"}},
		"huge header":       {raw(head + "X: " + strings.Repeat("x", megabyte) + "\r\n\r\n"), end{r, "connection"}, end{f, "connection"}},
		"silence":           {raw(""), end{r, "connection"}, end{f, "connection"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.handler)
			w.Limits.Page, w.Limits.Request = megabyte, 5*time.Second
			if name == "trickle" {
				w.Limits.Request = 50 * time.Millisecond
			}
			b := w.batch("/first", "/last")
			b.Targets[1].Attempts = MaxAttempts - 1
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := w.run(t, b)
			runtime.ReadMemStats(&after)
			if diff := cmp.Diff([]end{c.first, c.last}, ends(got)); diff != "" {
				t.Errorf("%s\n%+v", diff, got.Ledger.Outcomes)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 40*megabyte {
				t.Errorf("%d MB were allocated", grown/megabyte)
			}
			for i, o := range got.Ledger.Outcomes {
				if want := b.Targets[i].Attempts + 1; o.Attempts != want {
					t.Errorf("attempts of %s: %d, want %d", o.URL, o.Attempts, want)
				}
			}
		})
	}
	if n := streamed.Load(); n > 32*megabyte {
		t.Errorf("%d bytes of the endless page were taken", n)
	}
}

func TestConnections(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	secure := httptest.NewUnstartedServer(respond(200, "text/html", ""))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	w := newWorld(t, respond(200, "text/html", "<p>"))
	noSuchHost, public := w.another(), w.another()
	noSuchHost.Transport = failing{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}}
	public.Transport = Transport(Options{})
	for name, c := range map[string]struct {
		function *Function
		url      string
		want     end
		detail   string
	}{
		"closed port":       {w.Function, nobody, end{book.Retry, "refused"}, "refused"},
		"TLS without trust": {w.Function, secure.URL, end{book.Retry, "tls"}, "certificate"},
		"HTTP for HTTPS":    {w.Function, strings.Replace(w.server.URL, "http", "https", 1), end{book.Retry, "tls"}, "tls"},
		"no such host":      {noSuchHost, "http://nowhere.test", end{book.Retry, "no such host"}, "no such host"},
		"private address":   {public, w.server.URL, end{book.Failed, "address refused"}, "--allow-private"},
	} {
		t.Run(name, func(t *testing.T) {
			own := *w
			own.Function = c.function
			b := w.batch("")
			b.Version.Token += uint64(len(name))
			b.Targets[0].URL = c.url + "/"
			got := own.run(t, b)
			if diff := cmp.Diff([]end{c.want}, ends(got)); diff != "" {
				t.Error(diff)
			}
			if detail := got.Ledger.Outcomes[0].Detail; !strings.Contains(detail, c.detail) || len(detail) > maxDetail {
				t.Errorf("detail %q does not mention %q", detail, c.detail)
			}
		})
	}
}

// failing is a transport on which nothing works.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }
