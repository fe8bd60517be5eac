package fetch

import (
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// wish is that of a page to be known by another address.
type wish struct {
	page
	link   book.Link // of kind Canonical, to the address
	to     address.Address
	others []book.Link // of the page
	before book.Outcome
}

// canonical returns the link to the address by which a page wants to be known
// (RFC 6596), if it may be stored there instead of here: it is of the same origin,
// and the collection admits it.
func (p page) canonical(o book.Outcome, read *document.Document) (link book.Link, to address.Address, elsewhere bool) {
	to, elsewhere = p.behalf.canonical(collectionOf(o), p.address, read)
	if !elsewhere {
		return link, to, false
	}
	link = book.Link{
		Source: p.address.ID, Target: to.URL, Place: to.Place, Kind: book.Canonical, Region: book.Text, Rel: "canonical",
		Depth: o.Depth, Hops: more(o.Hops), Weight: p.target.Weight, Collection: collectionOf(o),
	}
	way := membership.Way{Collection: link.Collection, Kind: link.Kind, Depth: link.Depth, Hops: link.Hops, Weight: link.Weight}
	return link, to, p.behalf.settings.Decide(way, to) == ""
}

// canonical returns the other address of the same origin by which a page at an
// address wants to be known, if there is one.
func (b behalf) canonical(collection string, at address.Address, read *document.Document) (address.Address, bool) {
	if read.Canonical == "" {
		return address.Address{}, false
	}
	base := at
	if read.Base != "" {
		if resolved, err := base.Resolve(read.Base); err == nil {
			base = resolved
		}
	}
	to, err := base.Resolve(read.Canonical)
	if err != nil {
		return address.Address{}, false
	}
	to = b.settings.Clean(collection, to)
	return to, to.Origin == at.Origin && to.URL != at.URL
}

// isAlias makes an outcome that of a page which is stored elsewhere.
func (p page) isAlias(o *book.Outcome, link book.Link) {
	conclude(o, p.target, verdict{book.Skipped, membership.Canonical, "to " + link.Target})
	o.Exponent = later(o.Exponent)
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
