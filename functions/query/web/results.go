package web

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// box is the content of the search form, which every page has. The zero box is an empty form.
type box struct {
	Query string
	Size  int // number of hits on a page of results; 0 for request.DefaultHits
	// languages into which the query is translated, separated by commas
	Across string
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
	First      int                  // number of the first hit, from 1
	Hits       []hitView
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
	Unvisited bool      // whether no page is stored: then only links to it were found
	Across    string    // language into which the query was translated to find the page; "" if it was not
	Copy      string    // path on this server of the stored copy of the page
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

func newResultsPage(q engine.Query, found engine.Result) resultsPage {
	page := resultsPage{
		Box: box{Query: q.Text, Across: strings.Join(q.Across.Into, ",")}, Total: found.Total, Exact: found.Exact, Images: found.Images, Gallery: len(found.Copies) > 0, Took: found.Took,
		Incomplete: found.Incomplete && found.Lost == nil, Empty: found.Empty, Partial: found.Partial, Notes: found.Sentences(), Translated: found.Translations(), First: q.From + 1, Pages: newPager(q, found.Total, found.Exact),
		Feed: "/v1/search?format=atom&" + strings.TrimPrefix(pageAddress(q, 0), "/search?"),
	}
	if q.Size != request.DefaultHits {
		page.Box.Size = q.Size
	}
	if found.Meant != nil {
		meant := q
		meant.Text = found.Meant.Text
		page.Meant = &meantView{found.Meant, pageAddress(meant, 0)}
	}
	unfolded := q
	unfolded.Text += " dup:all"
	all := pageAddress(unfolded, 0)
	for _, h := range found.Hits {
		title := h.MarkedTitle
		if strings.TrimSpace(engine.Plain(title)) == "" {
			title = []search.Fragment{{Text: h.URL}}
		}
		ofSite := q
		ofSite.Text += " site:" + h.Site
		page.Hits = append(page.Hits, hitView{
			Site: h.Site, More: h.MoreOfSite, OfSite: pageAddress(ofSite, 0),
			URL: h.URL, Crumbs: crumbs(h.URL), Title: title, Snippet: h.Snippet, Section: h.Section, Further: h.Further,
			Lang: h.Lang, Fetched: h.Fetched.UTC(), Date: h.Date, Copy: engine.CopyAddress(h.URL, q.AsOf), Alike: len(h.Alike), All: all,
			Image: newImageView(h.Image, found.Copies), Unvisited: h.Unvisited, Across: h.Across,
		})
	}
	return page
}

// newImageView returns the view of a hit's image; nil if i is nil. The parameter copies is
// Result.Copies.
func newImageView(i *search.Image, copies map[string]string) *imageView {
	if i == nil {
		return nil
	}
	return &imageView{URL: i.URL, Crumbs: crumbs(i.URL), Shows: i.Marked, Alt: engine.Plain(i.Marked), Copy: copies[i.URL], Others: len(i.Also)}
}

// crumbs returns the parts of an address for display: the host, the parts of the path, and the
// query after a question mark. Each part is shown without percent-encoding, so that %C3%A9 becomes
// é. Exception: a part stays encoded if the decoded part would contain characters that are invisible
// or change the direction of text.
func crumbs(address string) []string {
	_, rest, _ := strings.Cut(address, "://")
	path, query, _ := strings.Cut(rest, "?")
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" {
			parts = append(parts, readable(part))
		}
	}
	if query != "" {
		parts = append(parts, "?"+readable(query))
	}
	return parts
}

func readable(encoded string) string {
	decoded, err := url.PathUnescape(encoded)
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if err != nil || !utf8.ValidString(decoded) || strings.ContainsFunc(decoded, hidden) {
		return encoded
	}
	return decoded
}

// pager has the addresses of the other pages of results of a query. An address is "" if there is no
// such page.
type pager struct {
	Previous, Next string
	Numbers        []numbered
}

type numbered struct {
	Number  int
	Current bool
	Address string
}

// pagesShown is the greatest number of page numbers that a pager shows.
const pagesShown = 7

func newPager(q engine.Query, total int, exact bool) (p pager) {
	last := min((total-1)/q.Size, q.Most()/q.Size-1) // counted from 0
	current := q.From / q.Size
	if total == 0 || last == 0 && q.From == 0 {
		return pager{}
	}
	if q.From > 0 {
		p.Previous = pageAddress(q, min(q.From-q.Size, last*q.Size))
	}
	if (q.From+q.Size < total || !exact) && q.From+2*q.Size <= q.Most() {
		p.Next = pageAddress(q, q.From+q.Size)
	}
	first := max(0, min(current-pagesShown/2, last-pagesShown+1))
	for n := first; n <= min(last, first+pagesShown-1); n++ {
		p.Numbers = append(p.Numbers, numbered{n + 1, n*q.Size == q.From, pageAddress(q, n*q.Size)})
	}
	return p
}

// pageAddress returns the address of a page of results. The parameter from is the number of its
// first hit, counted from 0.
func pageAddress(q engine.Query, from int) string {
	values := url.Values{"q": {q.Text}}
	for name, filter := range map[string][]string{"site": q.Site, "lang": q.Lang, "collection": q.Collection, "type": q.Type} {
		if len(filter) > 0 {
			values[name] = filter
		}
	}
	for name, t := range map[string]time.Time{"after": q.After, "before": q.Before, "asof": q.AsOf} {
		if !t.IsZero() {
			values.Set(name, t.Format(time.RFC3339Nano))
		}
	}
	if len(q.Across.Into) > 0 {
		values.Set("across", strings.Join(q.Across.Into, ","))
	}
	if q.Size != request.DefaultHits {
		values.Set("n", strconv.Itoa(q.Size))
	}
	if from > 0 {
		values.Set("from", strconv.Itoa(from))
	}
	return "/search?" + values.Encode()
}
