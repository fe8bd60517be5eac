package fetch

import (
	"archive/zip"
	"bytes"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

func encoding(name string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", name)
		_, _ = w.Write(body)
	}
}

// odt returns the bytes of a document in OpenDocument's text format (.odt) with the given body.
func odt(t *testing.T, body string) string {
	t.Helper()
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	members := []string{
		"mimetype", "application/vnd.oasis.opendocument.text",
		"content.xml", `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
			xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:xlink="http://www.w3.org/1999/xlink">
			<office:body><office:text>` + body + `</office:text></office:body></office:document-content>`,
	}
	for i := 0; i < len(members); i += 2 {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: members[i], Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, members[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// TestLinksOfADocument checks that the links of an office document are recorded like those of a
// page.
func TestLinksOfADocument(t *testing.T) {
	w := newWorld(t, respond(200, "application/vnd.oasis.opendocument.text", odt(t, `<text:p><text:a xlink:href="http://a.example/next">next</text:a></text:p>`)))
	got := w.run(t, w.batch("/report.odt"))
	if links := got.Ledger.Links; len(links) != 1 || links[0].Target != "http://a.example/next" || links[0].Anchor != "next" {
		t.Errorf("links %+v", links)
	}
}

// TestLinkToMail checks that a link to a mail address is recorded with so many redirects that no
// program follows it, and not recorded if the page says noindex.
func TestLinkToMail(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", `<p><a href="mailto:jane@a.example">Jane</a>, <a href="mailto:joe@a.example" rel=nofollow>Joe</a>`))
	got := w.run(t, w.batch("/"))
	if links := got.Ledger.Links; len(links) != 1 || links[0].Target != "http://a.example:25/jane" || links[0].Anchor != "Jane" || links[0].Hops <= collection.MaxHops {
		t.Errorf("links %+v", links)
	}
	w = newWorld(t, respond(200, "text/html", `<meta name=robots content=noindex><p><a href="mailto:jane@a.example">Jane</a>, <a href=/next>next</a>`))
	if links := w.run(t, w.batch("/")).Ledger.Links; len(links) != 1 || links[0].Anchor != "next" {
		t.Errorf("links of a page with noindex: %+v", links)
	}
}

// TestAnswers lets a server give every kind of regular answer, on the first attempt and on the
// last, and checks the outcome. For attacks see TestHostile.
func TestAnswers(t *testing.T) {
	packed := gzipped(t, strings.NewReader("<p>packed"))
	location := func(status int, to string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(status)
		}
	}
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
		"brotli":            {encoding("br", brotlied(t, strings.NewReader("<p>packed"))), end{s, ""}, end{s, ""}},
		"empty brotli":      {encoding("BR", nil), end{s, ""}, end{s, ""}},
		"zstd":              {encoding("zstd", zstded(t, strings.NewReader("<p>packed"))), end{s, ""}, end{s, ""}},
		"empty zstd":        {encoding("zstd", nil), end{s, ""}, end{s, ""}},
		"identity":          {encoding("identity", []byte("<p>plain")), end{s, ""}, end{s, ""}},
		"document":          {respond(200, "application/octet-stream", odt(t, "<text:p>words</text:p>")), end{s, ""}, end{s, ""}},
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
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.handler)
			b := w.batch("/first", "/last")
			b.Targets[1].Attempts = MaxAttempts - 1
			got := w.run(t, b)
			if diff := cmp.Diff([]end{c.first, c.last}, ends(got)); diff != "" {
				t.Errorf("%s\n%+v", diff, got.Ledger.Outcomes)
			}
			for i, o := range got.Ledger.Outcomes {
				if want := b.Targets[i].Attempts + 1; o.Attempts != want {
					t.Errorf("attempts of %s: %d, want %d", o.URL, o.Attempts, want)
				}
			}
		})
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
	public.Transport = Transport(false)
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

// failing is an HTTP transport on which every request fails with err.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// TestOneConnection checks that all requests of a batch use one connection, whatever the answers
// are.
func TestOneConnection(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/page", respond(200, "text/html", strings.Repeat("<p>page", 10_000)))
	mux.HandleFunc("/gzip", encoding("gzip", gzipped(t, strings.NewReader("<p>packed"))))
	mux.HandleFunc("/br", encoding("br", brotlied(t, strings.NewReader("<p>packed"))))
	mux.HandleFunc("/zstd", encoding("zstd", zstded(t, strings.NewReader("<p>packed"))))
	mux.HandleFunc("/image", respond(200, "image/png", strings.Repeat("x", 10_000)))
	mux.HandleFunc("/error", respond(500, "text/html", strings.Repeat("x", 10_000)))
	mux.HandleFunc("/old", http.RedirectHandler("/page", http.StatusMovedPermanently).ServeHTTP)
	var connections sync.Map // by address
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections.Store(r.RemoteAddr, true)
		mux.ServeHTTP(w, r)
	}))
	w.run(t, w.batch("/page", "/gzip", "/br", "/zstd", "/image", "/error", "/old", "/none", "/page?"))
	n := 0
	for range connections.Range {
		n++
	}
	if n != 1 {
		t.Errorf("%d connections were made", n)
	}
}

func TestAsksForCodings(t *testing.T) {
	asked := make(chan string, 1)
	w := newWorld(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Accept-Encoding") }))
	w.run(t, w.batch("/"))
	if got := <-asked; got != "gzip, br, zstd" {
		t.Errorf("Accept-Encoding: %s", got)
	}
}
