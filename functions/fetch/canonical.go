package fetch

import (
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// canonical returns the link to the address by which a page wants to be known
// (RFC 6596), if the page is stored there instead of here: the collection admits
// it, and it is simpler than that of the page. Other wishes are not followed,
// for no page is to be lost that redirects back from there, or names the front
// page: alike pages are shown as one.
func (p page) canonical(o book.Outcome, read *document.Document) (book.Link, bool) {
	if read.Canonical == "" {
		return book.Link{}, false
	}
	base := p.address
	if read.Base != "" {
		if b, err := base.Resolve(read.Base); err == nil {
			base = b
		}
	}
	to, err := base.Resolve(read.Canonical)
	if err != nil {
		return book.Link{}, false
	}
	to = p.behalf.settings.Clean(collectionOf(o), to)
	link := book.Link{
		Source: p.address.ID, Target: to.URL, Place: to.Place, Kind: book.Canonical, Region: book.Text, Rel: "canonical",
		Depth: o.Depth, Hops: more(o.Hops), Weight: p.target.Weight, Collection: collectionOf(o),
	}
	way := settings.Way{Collection: link.Collection, Kind: link.Kind, Depth: link.Depth, Hops: link.Hops, Weight: link.Weight}
	return link, simpler(to, p.address) && p.behalf.settings.Decide(way, to) == ""
}

// simpler reports whether a URL is another without some of its parameters, or
// without the name of an index page. No two are simpler than each other.
func simpler(a, than address.Address) bool {
	path, query, _ := strings.Cut(a.Path, "?")
	longPath, longQuery, _ := strings.Cut(than.Path, "?")
	dir, file := longPath[:strings.LastIndexByte(longPath, '/')+1], longPath[strings.LastIndexByte(longPath, '/')+1:]
	isIndex := path == dir && strings.HasPrefix(file, "index.")
	return a.Origin == than.Origin && len(a.URL) < len(than.URL) && (path == longPath || isIndex) && among(query, longQuery)
}

// among reports whether all parameters of a query are among those of another.
func among(query, others string) bool {
	all := strings.Split(others, "&")
	for parameter := range strings.SplitSeq(query, "&") {
		if parameter != "" && !slices.Contains(all, parameter) {
			return false
		}
	}
	return true
}
