package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// packages maps the first element of a path on the site to the directory of a Debian package
// whose files are served there. All together have about 4,700 pages.
var packages = map[string]string{
	"postgresql": "postgresql-doc-15/usr/share/doc/postgresql-doc-15/html",
	"python":     "python3.11-doc/usr/share/doc/python3.11/html",
	"django":     "python-django-doc/usr/share/doc/python-django-doc/html",
	"qt":         "qtbase5-doc-html/usr/share/qt5/doc",
}

// starts are the pages to which the site's first page links.
var starts = []string{"postgresql/index.html", "python/index.html", "django/index.html"}

// served holds counts of the site's answers so far.
type served struct {
	Pages, Unchanged, Bytes int64 // numbers of HTML pages sent, of answers with status 304, and of bytes of these HTML pages
	First                   time.Time
}

// countsPath is the path at which the site returns its counts; no page links to it.
const countsPath = "/.counts"

// counts returns what the site at an address has counted so far.
func counts(b *testing.B, home string) served {
	b.Helper()
	var s served
	if err := json.Unmarshal([]byte(read(b, strings.TrimSuffix(home, "/")+countsPath)), &s); err != nil {
		b.Fatal(err)
	}
	return s
}

// kilobytes returns the mean size of a page in kilobytes.
func (s served) kilobytes() float64 { return float64(s.Bytes) / 1000 / float64(s.Pages) }

// serve serves the packages in a directory on a free port, and prints the port.
func serve(sites string) {
	mux := http.NewServeMux()
	links := starts
	for name, path := range packages {
		root := filepath.Join(sites, path)
		indexes, err := filepath.Glob(filepath.Join(root, "*", "*-index.html"))
		if err != nil {
			panic(err)
		}
		for _, index := range indexes {
			links = append(links, name+strings.TrimPrefix(index, root))
		}
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, http.FileServer(http.Dir(root))))
	}
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><title>Documentation</title><ul>")
		for _, link := range links {
			fmt.Fprintf(w, "<li><a href=%q>%s</a>", "/"+link, link)
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + listener.Addr().String() + "/")
	panic(http.Serve(listener, &counter{site: mux}))
}

// counter is a handler that counts the responses of a site.
type counter struct {
	site                    http.Handler
	first                   atomic.Pointer[time.Time]
	pages, unchanged, bytes atomic.Int64
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == countsPath {
		s := served{Pages: c.pages.Load(), Unchanged: c.unchanged.Load(), Bytes: c.bytes.Load()}
		if first := c.first.Load(); first != nil {
			s.First = *first
		}
		_ = json.NewEncoder(w).Encode(s) // fails if the client has gone
		return
	}
	if c.first.Load() == nil {
		now := time.Now()
		c.first.CompareAndSwap(nil, &now)
	}
	c.site.ServeHTTP(&countedResponse{ResponseWriter: w, counter: c}, r)
}

type countedResponse struct {
	http.ResponseWriter
	*counter
	isPage bool
}

func (w *countedResponse) WriteHeader(code int) {
	switch w.isPage = code == http.StatusOK && strings.HasPrefix(w.Header().Get("Content-Type"), "text/html"); {
	case w.isPage:
		w.pages.Add(1)
	case code == http.StatusNotModified:
		w.unchanged.Add(1)
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *countedResponse) Write(b []byte) (int, error) {
	if w.isPage {
		w.bytes.Add(int64(len(b)))
	}
	return w.ResponseWriter.Write(b)
}

// ReadFrom implements io.ReaderFrom. With it, net/http can still send files by sendfile(2),
// although its ResponseWriter is wrapped to count the bytes.
func (w *countedResponse) ReadFrom(from io.Reader) (int64, error) {
	n, err := io.Copy(w.ResponseWriter, from)
	if w.isPage {
		w.bytes.Add(n)
	}
	return n, err
}
