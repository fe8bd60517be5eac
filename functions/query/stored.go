package query

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// storedPolicy lets a stored copy run nothing, load nothing and send nothing:
// it is another's page under our address. Its own inline styles and images
// work, since they are in its bytes.
//
// It does not keep browsers from opening connections in advance (link
// rel=preconnect, and frames that are then blocked), which tells others who
// reads the copy; storedConnections does, where it is known
// (https://wicg.github.io/connection-allowlists/), and X-DNS-Prefetch-Control
// for names. The price is that links to elsewhere do not open.
const (
	storedPolicy      = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
	storedConnections = "(response-origin)"
)

// stored serves the copy of a page as it is or was, byte for byte.
func (s *site) stored(w http.ResponseWriter, r *http.Request) error {
	values, err := parameters(r)
	if err != nil {
		return err
	}
	wanted := values.Get("url")
	if wanted == "" {
		return wrong("The page's address is missing; ask like /page?url=https://example.org/.")
	}
	a, err := address.Parse(wanted)
	if err != nil {
		return wrong("%.200q is no web address; write it like https://example.org/.", wanted)
	}
	at, err := moment(values, "asof")
	if err != nil {
		return err
	}
	page, err := s.engine.Page(r.Context(), a, at)
	if n := len(page.Unread); n > 0 {
		w.Header().Set(vitals.Incomplete, fmt.Sprintf("%d of the books could not be read", n))
	}
	if errors.Is(err, ErrNoPage) {
		return failure{http.StatusNotFound, noCopy(a, at, len(page.Unread))}
	}
	if err != nil {
		return err
	}
	describe(w.Header(), page.Object)
	http.ServeContent(w, r, "", page.Downloaded, bytes.NewReader(page.Data))
	return nil
}

// noCopy is the sentence of a page that is not found.
func noCopy(a address.Address, at time.Time, unread int) string {
	sentence := "No copy of " + a.URL + " is stored."
	if !at.IsZero() {
		sentence = "No copy of " + a.URL + " was stored on " + at.UTC().Format("2 January 2006 at 15:04:05 UTC") + "."
	}
	if unread > 0 {
		sentence += " A part of the records is damaged; once it is repaired, there may be one."
	}
	return sentence
}

// describe says what the copy is, and when it was the page at its address
// (Memento-Datetime: RFC 7089, section 2.1.1).
func describe(h http.Header, page webobject.Object) {
	media, attachment := servedType(page.MIME)
	h.Set("Content-Type", media)
	if attachment {
		h.Set("Content-Disposition", "attachment")
	}
	h.Set("Content-Security-Policy", storedPolicy)
	h.Set("Connection-Allowlist", storedConnections)
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("X-Stored-Url", page.URL)
	h.Set("Memento-Datetime", page.Downloaded.UTC().Format(http.TimeFormat))
	if page.Hash != [32]byte{} {
		h.Set("ETag", fmt.Sprintf(`"%x"`, page.Hash[:16]))
	}
}

// servedType returns the Content-Type under which a page of a media type is
// served. HTML, XHTML and plain text keep theirs. All other text, XML and SVG
// included, is shown as plain text, so that no parser of a browser expands its
// entities or applies its style sheets. Everything else can only be saved.
func servedType(stored string) (contentType string, attachment bool) {
	_, parameters, _ := mime.ParseMediaType(stored)
	media, _, _ := strings.Cut(stored, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	switch {
	case media == "text/html", media == "application/xhtml+xml", media == "text/plain":
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
