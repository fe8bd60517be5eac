// Package compress sends answers of an HTTP server in gzip to clients that accept it (RFC 9110,
// section 12.5.3).
package compress

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// least is the size in bytes from which an answer is compressed. A smaller one fits into the first
// network packet anyway.
const least = 1 << 10

// Handler returns a handler that answers as h does, and compresses long answers that are text:
//
//	answer of h                                       what is sent
//	JSON, HTML, XML, CSS or other text, 1 KB or more  compressed by gzip, if the client accepts it
//	shorter, or of another media type                 the answer as it is
//	a part of the content (206), or encoded by h      the answer as it is
//
// The bytes of a compressed answer differ from those of the uncompressed one. So a strong ETag becomes a
// weak one, which still matches in the header If-None-Match.
func Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !accepts(r.Header.Values("Accept-Encoding")) {
			h.ServeHTTP(varying{w}, r)
			return
		}
		into := &writer{ResponseWriter: w, isHead: r.Method == http.MethodHead}
		h.ServeHTTP(into, r)
		into.end()
	})
}

// accepts reports whether a client accepts gzip. The parameter fields has the values of its headers
// Accept-Encoding.
func accepts(fields []string) bool {
	of := make(map[string]float64) // quality of each named encoding
	for part := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		name, parameter, _ := strings.Cut(part, ";")
		quality := 1.0
		if value, found := strings.CutPrefix(strings.TrimSpace(parameter), "q="); found {
			quality, _ = strconv.ParseFloat(value, 64)
		}
		of[strings.ToLower(strings.TrimSpace(name))] = quality
	}
	quality, named := of["gzip"]
	return quality > 0 || !named && of["*"] > 0
}

// isText reports whether content of the type is text, which gzip makes much smaller.
func isText(contentType string) bool {
	media, _, _ := mime.ParseMediaType(contentType)
	kind, subtype, _ := strings.Cut(media, "/")
	switch subtype {
	case "json", "x-ndjson", "xml", "javascript":
		return true
	}
	return kind == "text" || strings.HasSuffix(subtype, "+json") || strings.HasSuffix(subtype, "+xml")
}

// mayCompress reports whether an answer with this status and these headers may be compressed. Whether it is
// compressed then depends on its length.
func mayCompress(status int, h http.Header) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusPartialContent && status != http.StatusNotModified &&
		h.Get("Content-Encoding") == "" && isText(h.Get("Content-Type"))
}

// vary tells caches, by the header Vary, that the answer depends on the client's Accept-Encoding.
func vary(h http.Header) { h.Add("Vary", "Accept-Encoding") }

// varying is the ResponseWriter for a client that does not accept gzip. It adds the header Vary to answers
// that other clients get compressed.
type varying struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w varying) WriteHeader(status int) {
	if mayCompress(status, w.Header()) {
		vary(w.Header())
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w varying) Unwrap() http.ResponseWriter { return w.ResponseWriter }

var zips = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

// writer is the ResponseWriter for a client that accepts gzip. It holds the beginning of an answer
// back until it knows whether the answer is long enough.
type writer struct {
	http.ResponseWriter
	isHead bool
	status int          // 0 before WriteHeader
	held   []byte       // beginning of the content, while begun is false
	begun  bool         // whether the header has been sent
	zip    *gzip.Writer // nil if the answer is not compressed
}

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	switch {
	case status < 200: // an interim answer, such as 103 Early Hints
		w.ResponseWriter.WriteHeader(status)
		return
	case w.status != 0:
		return
	}
	w.status = status
	if !mayCompress(status, w.Header()) {
		_ = w.begin(false) // writes no content yet
		return
	}
	vary(w.Header())
	if w.isHead { // no content follows that could be counted
		size, _ := strconv.Atoi(w.Header().Get("Content-Length"))
		if size >= least {
			w.describe()
		}
		_ = w.begin(false)
	}
}

// describe sets the headers of an answer in gzip.
func (w *writer) describe() {
	h := w.Header()
	h.Set("Content-Encoding", "gzip")
	h.Del("Content-Length")
	h.Del("Accept-Ranges")
	if tag := h.Get("ETag"); strings.HasPrefix(tag, `"`) {
		h.Set("ETag", "W/"+tag)
	}
}

// begin sends the header, and the content that was held back.
func (w *writer) begin(compressed bool) (err error) {
	w.begun = true
	if compressed {
		w.describe()
		w.zip = zips.Get().(*gzip.Writer)
		w.zip.Reset(w.ResponseWriter)
	}
	w.ResponseWriter.WriteHeader(w.status)
	if len(w.held) > 0 {
		_, err = w.into().Write(w.held)
		w.held = nil
	}
	return err
}

// into returns the writer of the content.
func (w *writer) into() io.Writer {
	if w.zip != nil {
		return w.zip
	}
	return w.ResponseWriter
}

// Write implements http.ResponseWriter.
func (w *writer) Write(content []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.begun {
		return w.into().Write(content)
	}
	w.held = append(w.held, content...)
	if len(w.held) >= least {
		if err := w.begin(true); err != nil {
			return 0, err
		}
	}
	return len(content), nil
}

// FlushError sends all that has been written so far. It is compressed even if it is short, because more may
// follow. FlushError is called by http.ResponseController.
func (w *writer) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.begun {
		if err := w.begin(true); err != nil {
			return err
		}
	}
	if w.zip != nil {
		if err := w.zip.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// end sends the rest of the answer.
func (w *writer) end() {
	if w.status != 0 && !w.begun {
		_ = w.begin(false) // fails when the client has gone
	}
	if w.zip != nil {
		_ = w.zip.Close() // fails when the client has gone
		w.zip.Reset(io.Discard)
		zips.Put(w.zip)
	}
}
