package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// copyPage is the data of the template for a page that shows a stored copy.
type copyPage struct {
	Box        box
	URL        string
	Crumbs     []string
	Title      string // "" if it is not known
	Lang       string // language of the copy, "" if it is not known
	Downloaded time.Time
	Gone       time.Time     // time since which the page is gone; zero if it is not
	Raw        string        // address of the copy as it is stored
	Frame      string        // address of the copy for the frame; "" if it is not shown as a page
	Views      []viewLink    // the other ways of showing the copy
	Versions   []versionLink // other copies of the page
	Text       []block       // text of the copy, if this was asked for
	NoText     bool          // whether the copy has no text that can be read, though it was asked for
	Unshown    bool          // whether the copy is no page that can be shown in a frame
}

// viewLink leads to another way of showing a copy. Name is the key of its message.
type viewLink struct{ Name, Address string }

// versionLink leads to another copy of a page.
type versionLink struct {
	Downloaded time.Time
	Address    string
}

// versionsShown is the greatest number of other copies of a page to which the page has links.
const versionsShown = 8

// wanted is a request for a stored copy.
type wanted struct {
	address address.Address
	at      time.Time // moment as of which the copy is wanted; zero for the present
}

// wantedBy reads the parameters url and asof.
func wantedBy(path string, values url.Values) (of wanted, err error) {
	text := values.Get("url")
	if text == "" {
		return of, request.WrongIn("url", "The page's address is missing; ask like %s?url=https://example.org/.", path)
	}
	if of.address, err = address.Parse(text); err != nil {
		return of, request.WrongIn("url", "%.200q is no web address; write it like https://example.org/.", text)
	}
	of.at, err = request.Moment(values, "asof")
	return of, err
}

// copy shows a stored copy to a reader.
func (s *siteHandler) copy(w http.ResponseWriter, r *http.Request) error {
	values, err := request.Parameters(r)
	if err != nil {
		return err
	}
	of, err := wantedBy(r.URL.Path, values)
	if err != nil {
		return err
	}
	query := strings.ToValidUTF8(values.Get("q"), "\uFFFD")
	w.Header().Set("X-Robots-Tag", "noindex")
	stored, err := s.Engine.Page(r.Context(), of.address, of.at)
	noteUnread(w, stored)
	if none, ok := errors.AsType[*engine.NoPage](err); ok && !request.WantsJSON(r) {
		return s.render(w, r, http.StatusNotFound, "failure", failurePage{
			Box: s.box(query), Heading: "no copy", Sentence: noCopy(none, of.at, len(stored.Unread)), Live: of.address.URL,
		})
	}
	if err != nil {
		return missing(err, of, stored)
	}
	page := copyPage{
		Box: s.box(query), URL: stored.URL, Crumbs: elided(crumbs(stored.URL)), Downloaded: stored.Downloaded,
		Raw: engine.CopyAddress(of.address.URL, of.at), Unshown: !isShown(stored.MIME),
	}
	if stored.Gone != nil {
		page.Gone = stored.Gone.Time
	}
	asText := values.Get("view") == "text" || page.Unshown
	hasText, err := s.addText(r, &page, stored.Object, of.at, query, asText)
	if err != nil {
		return err
	}
	here := copyAddress(of.address.URL, of.at, query)
	switch {
	case !asText:
		page.Frame = frameAddress(of.address.URL, of.at)
		if hasText {
			page.Views = []viewLink{{"text view", here + "&view=text"}}
		}
	case !page.Unshown:
		page.Views = []viewLink{{"page view", here}}
	}
	page.NoText = asText && !hasText
	versions, err := s.Engine.Versions(r.Context(), of.address)
	if err != nil {
		s.Engine.Log.ErrorContext(r.Context(), "cannot name the other copies of a page", "url", of.address.URL, "error", err)
	}
	for _, v := range versions {
		if !v.Downloaded.Equal(stored.Downloaded) && len(page.Versions) < versionsShown {
			page.Versions = append(page.Versions, versionLink{v.Downloaded, copyAddress(of.address.URL, v.AsOf, query)})
		}
	}
	return s.render(w, r, http.StatusOK, "copy", page)
}

// addText adds to the data of the template what is known from the text of the copy: its title and its
// language. If asText is true, it also adds the blocks of the text, with the words of the query marked. It
// reports whether the copy has text.
func (s *siteHandler) addText(r *http.Request, page *copyPage, stored webobject.Object, asOf time.Time, query string, asText bool) (bool, error) {
	structure, err := engine.Structured(stored)
	if err != nil || len(structure.Parts) == 0 {
		return false, nil
	}
	page.Title, page.Lang = structure.Title, structure.Lang
	if !asText {
		return true, nil
	}
	view := newTextView(&structure, asOf)
	marked, err := s.Engine.Mark(r.Context(), search.Query{Text: query}, structure.Lang, view.texts)
	if err != nil {
		return false, err
	}
	view.mark(marked)
	page.Text = view.blocks
	return true, nil
}

// frame serves a stored copy for the frame of the page that shows it.
func (s *siteHandler) frame(w http.ResponseWriter, r *http.Request) error {
	values, err := request.Parameters(r)
	if err != nil {
		return err
	}
	of, err := wantedBy(r.URL.Path, values)
	if err != nil {
		return err
	}
	stored, err := s.Engine.Page(r.Context(), of.address, of.at)
	noteUnread(w, stored)
	if err != nil {
		return missing(err, of, stored)
	}
	return serveFrame(w, r, stored.Object, of.at)
}

// missing returns the error of the engine as clients see it: for a page without a stored copy, a Failure
// with the status 404.
func missing(err error, of wanted, found engine.Copy) error {
	if none, ok := errors.AsType[*engine.NoPage](err); ok {
		return request.Failure{Status: http.StatusNotFound, Sentence: noCopy(none, of.at, len(found.Unread))}
	}
	return err
}
