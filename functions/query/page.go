package query

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// ErrNoPage means that no page is stored for an address.
var ErrNoPage = errors.New("no page is stored for this address")

// Copy is a stored page. It need not be the latest version at its address: see Unread and Gone.
type Copy struct {
	webobject.Object
	// errors of books and manifests that cannot be read; one of these might list a newer copy of the page
	Unread []error
	// if the page has gone since the copy was stored, the outcome of the request that found this; else nil
	Gone *book.Outcome
}

// NoPage is the error that no page is stored for an address (the field URL). If this address redirects
// to another one, or its page names another one as canonical, the field To is that other address.
type NoPage struct{ URL, To string }

// Error implements error.
func (n *NoPage) Error() string {
	if n.To == "" {
		return n.URL + ": " + ErrNoPage.Error()
	}
	return n.URL + ": " + ErrNoPage.Error() + ", which leads to " + n.To
}

// Unwrap returns ErrNoPage, so that errors.Is recognises the error as that.
func (n *NoPage) Unwrap() error { return ErrNoPage }

// Page returns the stored page of an address as it was at the time in the parameter moment, or as
// it is now if moment is zero. It looks the page up in the index. If it does not find the page
// there, because the page is not indexed or its segment cannot be used, it looks in the books, the
// records of the crawl. It reads the page itself by one ranged GET.
//
// The page may have been gone from its address by that time. As long as its copy is stored, Page
// returns the copy even then, with Copy.Gone. The error is
//
//	ErrNoPage               no copy is stored, or the page is forgotten today
//	manifest.ErrNotKept     a copy was stored at that time, but has been deleted since
//	*Lost                   no copy is found, and generations that may list one are lost
//
// Copy.Unread is set even with an error.
func (e *Engine) Page(ctx context.Context, a address.Address, moment time.Time) (Copy, error) {
	if err := e.refuse(ctx, a); err != nil {
		return Copy{}, err
	}
	current, err := e.snapshotOf(ctx, moment)
	if err != nil {
		return Copy{}, err
	}
	page, err := e.page(ctx, current, current.manifests, a)
	if page.isThere(err) {
		return e.report(ctx, page), e.unlessLost(ctx, current.generations, a, err)
	}
	if moment.IsZero() {
		e.snapshots.outdate(current) // the manifests are older than a grace: an object that they list has been deleted
	}
	newest, err := e.snapshots.get(ctx, e)
	if err != nil {
		return Copy{}, err
	}
	if moment.IsZero() {
		current = newest
	}
	page, err = e.page(ctx, current, newest.manifests, a)
	return e.report(ctx, page), e.unlessLost(ctx, current.generations, a, past(err, a, moment))
}

// unlessLost returns a *Lost in place of ErrNoPage if it is not certain that no copy of the page is
// stored. This is so if a partition that may hold the page has no generation (version of the
// manifest) that can be read. In all other cases unlessLost returns err unchanged.
//
// Damaged books, and partitions of which only an earlier generation can be read, do not lead to a
// *Lost: Copy.Unread names them.
func (e *Engine) unlessLost(ctx context.Context, at generations, a address.Address, err error) error {
	if !errors.Is(err, ErrNoPage) || len(at.faults) == 0 {
		return err
	}
	inForce, errSettings := e.Settings.Get(ctx)
	if errSettings != nil {
		return errSettings
	}
	if lost := at.lost(inForce.Holding(a)); lost != nil {
		return lost
	}
	return err
}

// refuse returns ErrNoPage if a takedown covers the address, else nil.
func (e *Engine) refuse(ctx context.Context, a address.Address) error {
	inForce, err := e.Settings.Get(ctx)
	if err == nil && inForce.Takedowns.Forgets(a) {
		err = noPage(a)
	}
	return err
}

// page looks a page up in the index of a snapshot, or else in the books (the records of the crawl)
// that the snapshot lists. Then it reads the page from its package. The package may have another
// key now than in the snapshot, because erasing pages changes the key. The newest manifests (the
// parameter names) tell the present key.
func (e *Engine) page(ctx context.Context, at *snapshot, names []manifest.Manifest, a address.Address) (Copy, error) {
	d, found, err := at.index.Lookup(ctx, a.ID)
	if err == nil && found {
		page, err := readPage(ctx, e.bucket, a, currentKey(names, d.Package), webobject.Place{Offset: d.Offset, Length: d.Length})
		return Copy{Object: page}, err
	}
	return pageInBooks(ctx, e.bucket, at.manifests, names, a, at.takedowns)
}

func (e *Engine) report(ctx context.Context, page Copy) Copy {
	for _, err := range page.Unread {
		e.Log.ErrorContext(ctx, "a book or generation is missing from the look for stored pages: repair it by bucketsearch verify --repair", "error", err)
	}
	return page
}

// isThere reports whether no object was absent when the page was looked up and read. An absent object
// left a blob.ErrAbsent in c.Unread (errors with which the lookup could go on) or in err (the error
// that ended the lookup or the reading).
func (c Copy) isThere(err error) bool {
	return !errors.Is(errors.Join(append(c.Unread, err)...), blob.ErrAbsent)
}

// past translates an error that occurred when the state of the bucket at a past moment was read. If
// an object is absent, it has been deleted since that moment; past then returns manifest.ErrNotKept.
// It returns any other error unchanged. If the moment is zero, which stands for the present, it
// returns every error unchanged.
func past(err error, a address.Address, moment time.Time) error {
	if !moment.IsZero() && errors.Is(err, blob.ErrAbsent) {
		return fmt.Errorf("%s as of %s: %w", a.URL, moment.UTC().Format(time.RFC3339), manifest.ErrNotKept)
	}
	return err
}

// PageInBooks is like Page, but looks the page up only in the books, the records of the crawl. It
// is for a process that needs only one page, so that opening the index would not pay.
func (e *Engine) PageInBooks(ctx context.Context, a address.Address, moment time.Time) (Copy, error) {
	if err := e.refuse(ctx, a); err != nil {
		return Copy{}, err
	}
	inForce, err := e.Settings.Get(ctx)
	if err != nil {
		return Copy{}, err
	}
	now, err := read(ctx, inForce.Partitions(), func(ctx context.Context, p layout.Partition) (manifest.Manifest, error) {
		return partition.Read(ctx, e.bucket, p)
	})
	if err != nil {
		return Copy{}, err
	}
	at := now
	if !moment.IsZero() {
		if at, err = e.pastGenerations(ctx, inForce.Partitions(), moment); err != nil {
			return Copy{}, err
		}
	}
	page, err := pageInBooks(ctx, e.bucket, at.manifests, now.manifests, a, inForce.Takedowns)
	return e.report(ctx, page), e.unlessLost(ctx, at, a, past(err, a, moment))
}

func noPage(a address.Address) error { return &NoPage{URL: a.URL} }

// pageInBooks looks an address up in the books (records of the crawl) that the parameter manifests
// lists, and reads the page stored there. It leaves out books that cannot be read. The parameter
// names has the newest manifests, which list the present keys of packages. If no page is stored,
// the error names the URL to which the address leads, unless a takedown covers that URL.
func pageInBooks(ctx context.Context, bucket blob.Reader, manifests, names []manifest.Manifest, a address.Address, forgotten takedown.Set) (Copy, error) {
	books, unread, err := openBooks(ctx, bucket, manifests)
	if err != nil {
		return Copy{}, err
	}
	standing, err := standingIn(ctx, books, a)
	if err != nil {
		return Copy{}, err
	}
	unread = append(unread, books.Damaged()...)
	last := standing.Page
	if last == nil || last.State != book.Stored {
		none := &NoPage{URL: a.URL}
		if standing.Final != nil {
			none.To = membership.LeadsTo(*standing.Final)
			if forgotten.ForgetsURL(none.To) {
				none.To = ""
			}
		}
		return Copy{Unread: unread}, none
	}
	page, err := readPage(ctx, bucket, a, currentKey(names, last.Package), webobject.Place{Offset: last.Offset, Length: last.Length})
	found := Copy{Object: page, Unread: unread}
	if standing.Gone() {
		found.Gone = standing.Final
	}
	return found, err
}

// openBooks opens the books (records of the crawl) that the manifests list. If the newest
// generation (version) of a manifest is lost, an earlier one was read in its place. Such a manifest
// may lack books. The result later has an error for each partition with such a manifest.
func openBooks(ctx context.Context, bucket blob.Reader, manifests []manifest.Manifest) (books *partition.Books, later []error, err error) {
	var listed []manifest.Book
	for _, m := range manifests {
		listed = append(listed, m.Books...)
		if lost := m.Later(); lost != nil {
			later = append(later, lost)
		}
	}
	books, err = partition.OpenBooks(ctx, bucket, listed)
	return books, later, err
}

// standingIn reads the outcomes of all requests for an address from the books, and returns those
// that determine the present state of the address (see book.Standing).
func standingIn(ctx context.Context, books *partition.Books, a address.Address) (standing book.Standing, err error) {
	outcomes, err := books.Find(ctx, a.Place, a.ID)
	for i := range outcomes {
		standing.Add(&outcomes[i])
	}
	return standing, err
}

func readPage(ctx context.Context, bucket blob.Reader, a address.Address, key string, place webobject.Place) (webobject.Object, error) {
	page, err := webobject.Read(ctx, bucket, key, place)
	if err == nil && page.URL != a.URL {
		err = fmt.Errorf("byte %d of %s holds %.200q instead of %s", place.Offset, key, page.URL, a.URL)
	}
	if err != nil {
		return webobject.Object{}, err
	}
	return page, nil
}

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
	values, err := parametersOf(r)
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
	at, err := momentParameter(values, "asof")
	if err != nil {
		return err
	}
	format, err := ParseFormat(values.Get("format"))
	if err != nil {
		return wrong("%v.", err)
	}
	page, err := s.engine.Page(r.Context(), a, at)
	if n := len(page.Unread); n > 0 {
		w.Header().Set(vitals.Incomplete, fmt.Sprintf("%d of the books could not be read", n))
	}
	if none, ok := errors.AsType[*NoPage](err); ok {
		return failure{http.StatusNotFound, noCopy(none, at, len(page.Unread))}
	}
	if err != nil {
		return err
	}
	data, media, err := format.As(page.Object)
	if err != nil {
		return err
	}
	describe(w.Header(), page.Object, r.Header.Get("Sec-Fetch-Dest") == "image")
	if format != HTML {
		w.Header().Set("Content-Type", media)
		w.Header().Del("Content-Disposition")
		w.Header().Del("ETag") // it is the tag of the stored bytes
	}
	if page.Gone != nil {
		w.Header().Set("X-Gone-Since", page.Gone.Time.UTC().Format(http.TimeFormat))
	}
	http.ServeContent(w, r, "", page.Downloaded, bytes.NewReader(data))
	return nil
}

func noCopy(none *NoPage, at time.Time, unread int) string {
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

// describe sets the headers of a stored copy: its type, the restrictions for browsers, its address,
// and the time at which it was downloaded (Memento-Datetime: RFC 7089, section 2.1.1). The
// parameter asImage is true if a browser requests the copy to show it as an image (see servedType).
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

// servedType returns the Content-Type under which a stored page is served, and whether it is served
// as an attachment. The parameter stored is the type with which it was stored. The parameter
// asImage says whether the browser will show it as an image (request header Sec-Fetch-Dest:
// https://www.w3.org/TR/fetch-metadata/). An SVG file is then harmless, because browsers run no
// scripts of an image and load nothing for it.
//
//	stored type                         served as
//	HTML, XHTML, plain text             its own type
//	PNG, JPEG, GIF, WebP, AVIF, icons   its own type
//	SVG, if asImage is true             its own type
//	other text, XML and other SVG       text/plain: so no browser expands its entities
//	                                    or applies its style sheets
//	everything else                     an attachment, which can only be saved
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
