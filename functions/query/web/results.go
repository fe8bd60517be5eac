package web

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// box is the content of the search form, which every page has.
type box struct {
	Query   string
	Kept    []parameter // parameters of the present results that hold for the next query, too
	Suggest string      // see Site.Suggest
	Focus   bool        // whether the reader can type at once
}

// parameter is a parameter of an address.
type parameter struct{ Name, Value string }

// box returns a form with the words of a query, and without filters.
func (s *siteHandler) box(query string) box { return box{Query: query, Suggest: s.Suggest} }

// boxOf returns a form with a query, which keeps its filters.
func (s *siteHandler) boxOf(q engine.Query) box {
	filled := s.box(q.Text)
	values := kept(q)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			filled.Kept = append(filled.Kept, parameter{name, value})
		}
	}
	return filled
}

// resultsPage is the data of the template for a page of results.
type resultsPage struct {
	Box        box
	Total      int
	Exact      bool
	Images     bool // whether the hits are images
	Gallery    bool // whether a copy of at least one of the images is stored, so that images can be shown
	Took       time.Duration
	Incomplete bool
	Empty      bool // whether nothing was indexed yet
	Partial    bool
	Notes      []string
	Translated []engine.Translation // how the query was translated into other languages
	Meant      *meantView           // the query that was probably meant; nil if this one seems right
	Order      *order               // order of the hits; nil where there is no other
	Chips      []chip               // filters in force
	Facets     []facetView          // filters to add
	First      int                  // number of the first hit, from 1
	Hits       []hitView
	Nothing    *alternatives // what to try instead; nil if there are hits
	Pages      pager
	Feed       string     // address of the Atom feed of the query
	Judge      *judgeView // HTML form with which the judge who is signed in saves marks; nil if no judge is signed in
	Pinged     bool       // whether the browser reports clicks on hits
}

// meantView is the query that was probably meant where another was typed.
type meantView struct {
	*search.Meant
	Address string // address of its results
}

// order is the order of the hits of a page of results.
type order struct {
	ByDate bool   // whether the newest come first, in place of the best
	Other  string // address of the same results in the other order
}

// orderOf returns the order of the hits, with the address of the results in the other order. It returns nil
// if there is no other order to offer: if the hits are images, or none of them has a date.
func orderOf(q engine.Query, found engine.Result) *order {
	if found.Images || !slices.ContainsFunc(found.Hits, func(h search.Hit) bool { return !h.Date.IsZero() }) {
		return nil
	}
	other := q
	other.ByDate = !q.ByDate
	return &order{q.ByDate, pageAddress(other, 0)}
}

type hitView struct {
	URL       string
	Crumbs    []string // the address for people: host, then the parts of the path
	Title     []search.Fragment
	Snippet   []search.Fragment
	Section   *search.Section  // section in which the snippet begins; nil if it has no address of its own
	Further   []search.Section // other sections that have as much of the query
	Lang      string
	Fetched   time.Time
	Date      time.Time // the page's own date; the zero time if it is not known
	Pinned    bool      // whether the operator has chosen that the page comes first for this query
	Unvisited bool      // whether no page is stored: then only links to it were found
	Linking   string    // address of a page of results with the pages that link to an unvisited URL
	Across    string    // language into which the query was translated to find the page; "" if it was not
	Copy      string    // path on this server of the page that shows the stored copy
	Alike     int       // number of pages with about the same text that are not shown
	All       string    // address of a page of results that also shows the pages that Alike counts
	Site      string
	More      int    // number of further matches of the site that were moved behind the first ten results
	OfSite    string // address of the results of the site alone
	Image     *imageView
	Mark      *markView // where the judge who is signed in marks this hit; nil without a judge
	Ping      string    // address to which the browser reports a click; "" for none
}

// imageView is an image that was found on the page of a hit.
type imageView struct {
	URL    string
	Crumbs []string
	// words on what the image shows, with matches marked: its alternative text, caption or name
	Shows  []search.Fragment
	Alt    string // the text of the field Shows, without its marks
	Copy   string // address of its stored copy; "" if there is none
	Others int    // number of other matching pages that show the image
}

func (s *siteHandler) newResultsPage(q engine.Query, found engine.Result) resultsPage {
	page := resultsPage{
		Box: s.boxOf(q), Total: found.Total, Exact: found.Exact, Images: found.Images, Gallery: len(found.Copies) > 0, Took: found.Took,
		Incomplete: found.Incomplete && found.Lost == nil, Empty: found.Empty, Partial: found.Partial, Notes: found.Sentences(), Translated: found.Translations(),
		Order: orderOf(q, found), Chips: chipsOf(q), Facets: facetsOf(q, found), First: q.From + 1, Pages: newPager(q, found.Total, found.Exact),
		Feed: "/v1/search?format=atom&" + strings.TrimPrefix(pageAddress(q, 0), "/search?"),
	}
	if found.Meant != nil {
		meant := q
		meant.Text = found.Meant.Text
		page.Meant = &meantView{found.Meant, pageAddress(meant, 0)}
	}
	unfolded := q
	unfolded.Text += " dup:all"
	all := pageAddress(unfolded, 0)
	suffixes := siteSuffixes(found.Hits)
	for _, h := range found.Hits {
		title := withoutSuffix(h.MarkedTitle, suffixes[h.Site])
		if strings.TrimSpace(engine.Plain(title)) == "" {
			title = []search.Fragment{{Text: h.URL}}
		}
		ofSite := q
		ofSite.Text += " site:" + h.Site
		page.Hits = append(page.Hits, hitView{
			Linking: "/search?" + url.Values{"q": {"link:" + h.URL}}.Encode(),
			Site:    h.Site, More: h.MoreOfSite, OfSite: pageAddress(ofSite, 0),
			URL: h.URL, Crumbs: elided(crumbs(h.URL)), Title: title, Snippet: h.Snippet, Section: h.Section, Further: h.Further,
			Lang: h.Lang, Fetched: h.Fetched.UTC(), Date: h.Date, Copy: copyAddress(h.URL, q.AsOf, q.Text), Alike: len(h.Alike), All: all,
			Image: newImageView(h.Image, found.Copies), Pinned: h.Pinned, Unvisited: h.Unvisited, Across: h.Across,
		})
	}
	return page
}

// copyAddress returns the address of our page that shows the stored copy of a page: the copy of the time
// asOf, or the present copy if asOf is zero. If query is not "", its words are marked in the text of the
// copy.
func copyAddress(page string, asOf time.Time, query string) string {
	values := url.Values{"url": {page}}
	if !asOf.IsZero() {
		values.Set("asof", literalOf(asOf))
	}
	if query != "" {
		values.Set("q", query)
	}
	return "/copy?" + values.Encode()
}

// newImageView returns the image of a hit as the template shows it; nil if i is nil. The parameter copies
// has the paths of stored copies by the address of the image (engine.Result.Copies).
func newImageView(i *search.Image, copies map[string]string) *imageView {
	if i == nil {
		return nil
	}
	return &imageView{URL: i.URL, Crumbs: elided(crumbs(i.URL)), Shows: i.Marked, Alt: engine.Plain(i.Marked), Copy: copies[i.URL], Others: len(i.Also)}
}
