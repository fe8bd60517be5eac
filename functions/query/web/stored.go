package web

import (
	"bytes"
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// storedPolicy is the content security policy of stored copies. They are pages of other sites under
// our address, so in a browser they must run nothing, load nothing and send nothing. Inline styles
// and images within the page (data:) work, because they are not loaded.
//
// In spite of this policy a browser may open connections in advance, for link rel=preconnect or for
// a frame that it blocks afterwards. By these, other sites learn who reads the copy. The header
// Connection-Allowlist (https://wicg.github.io/connection-allowlists/), whose value is
// storedConnections, prevents this in browsers that implement it. X-DNS-Prefetch-Control prevents
// lookups of host names. A drawback of the allowlist is that links from the copy to other sites do
// not open.
const (
	storedPolicy      = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
	storedConnections = "(response-origin)"
)

func (s *siteHandler) stored(w http.ResponseWriter, r *http.Request) error {
	return ServeStored(w, r, s.Engine, engine.HTML)
}

// ServeStored answers a request for the stored copy of a page. The request has the parameters of /page (see
// Handler). The parameter otherwise is the format of the answer if the request names none. If ServeStored
// fails, it has not written anything.
func ServeStored(w http.ResponseWriter, r *http.Request, e *engine.Engine, otherwise engine.Format) error {
	values, err := request.Parameters(r)
	if err != nil {
		return err
	}
	of, err := wantedBy(r.URL.Path, values)
	if err != nil {
		return err
	}
	format, err := engine.ParseFormat(cmp.Or(values.Get("format"), string(otherwise)))
	if err != nil {
		return request.WrongIn("format", "%v.", err)
	}
	page, err := e.Page(r.Context(), of.address, of.at)
	noteUnread(w, page)
	if err != nil {
		return missing(err, of, page)
	}
	data, media, err := format.As(page.Object)
	if err != nil {
		return err
	}
	describe(w.Header(), page.Object, r.Header.Get("Sec-Fetch-Dest") == "image")
	if format != engine.HTML {
		w.Header().Set("Content-Type", media)
		w.Header().Del("Content-Disposition")
		w.Header().Set("ETag", `W/"`+layout.ContentHash(data)+`"`)
	}
	if page.Gone != nil {
		w.Header().Set("X-Gone-Since", page.Gone.Time.UTC().Format(http.TimeFormat))
	}
	http.ServeContent(w, r, "", page.Downloaded, bytes.NewReader(data))
	return nil
}

// noteUnread adds a header if books could not be read (files that record the outcome of each request of the
// crawl). They might list a newer copy of the page.
func noteUnread(w http.ResponseWriter, page engine.Copy) {
	if n := len(page.Unread); n > 0 {
		w.Header().Set(vitals.Incomplete, fmt.Sprintf("%d of the books could not be read", n))
	}
}

func noCopy(none *engine.NoPage, at time.Time, unread int) string {
	sentence := "No copy of " + none.URL + " is stored."
	if !at.IsZero() {
		sentence = "No copy of " + none.URL + " was stored on " + at.UTC().Format("2 January 2006 at 15:04:05 UTC") + "."
	}
	if none.To != "" {
		sentence += " It leads to " + none.To + "."
	}
	if unread > 0 {
		sentence += " A part of the records is damaged; once it is repaired, there may be one."
	}
	return sentence
}

// describe sets the headers of a stored copy: its type, the restrictions for browsers, its address
// (X-Stored-Url), and the time at which it was downloaded (Memento-Datetime: RFC 7089, section 2.1.1). The
// parameter asImage says whether a browser requests the copy to show it as an image (see servedType).
func describe(h http.Header, page webobject.Object, asImage bool) {
	media, attachment := servedType(page.MIME, asImage)
	h.Add("Vary", "Sec-Fetch-Dest")
	h.Set("Content-Type", media)
	if attachment {
		h.Set("Content-Disposition", "attachment")
	}
	h.Set("Content-Security-Policy", storedPolicy)
	h.Set("Connection-Allowlist", storedConnections)
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Cache-Control", "private, max-age=60") // not for long: it may be forgotten
	h.Set("X-Stored-Url", page.URL)
	h.Set("Memento-Datetime", page.Downloaded.UTC().Format(http.TimeFormat))
	if page.Hash != [32]byte{} {
		h.Set("ETag", fmt.Sprintf(`"%x"`, page.Hash[:16]))
	}
}

// plainImages are the media types of images that contain no markup or scripts.
var plainImages = []string{
	"image/png", "image/apng", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/x-icon", "image/vnd.microsoft.icon",
}

// servedType returns the Content-Type with which a stored page is served, and whether it is served as an
// attachment. The parameter stored is the type with which it was stored. The parameter asImage says whether
// the browser shows it as an image (request header Sec-Fetch-Dest: https://www.w3.org/TR/fetch-metadata/).
// An SVG file is then harmless, because browsers run no scripts of an image, and load nothing for it.
//
//	stored type                         served as
//	HTML, XHTML, plain text             its own type
//	PNG, JPEG, GIF, WebP and others     its own type
//	(see plainImages)
//	SVG, if asImage is true             its own type
//	other text, XML and other SVG       text/plain: then browsers neither expand entities in it
//	                                    nor apply its style sheets
//	everything else                     an attachment, which browsers only save
func servedType(stored string, asImage bool) (contentType string, attachment bool) {
	_, parameters, _ := mime.ParseMediaType(stored)
	media, _, _ := strings.Cut(stored, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	switch {
	case media == "text/html", media == "application/xhtml+xml", media == "text/plain":
	case slices.Contains(plainImages, media), media == "image/svg+xml" && asImage:
		return media, false
	case strings.HasPrefix(media, "text/"), media == "application/xml", strings.HasSuffix(media, "+xml"):
		media = "text/plain"
	default:
		return "application/octet-stream", true
	}
	if charset := parameters["charset"]; charset != "" {
		return mime.FormatMediaType(media, map[string]string{"charset": charset}), false
	}
	return media, false
}
