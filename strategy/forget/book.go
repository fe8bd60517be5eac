package forget

import (
	"context"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Erase returns a book without what takedowns forget: the outcomes of forgotten URLs, the links from and to
// them, and the Details that name them. It returns nil if the book has nothing of it. The links of a page
// of a forgotten site are found by the outcome of the page, which must be in the same book. Links to forgotten
// URLs are expected at the places of these URLs; if everywhere is true, at all places. For what Erase reads, see
// book.Erase.
func Erase(ctx context.Context, r *book.Reader, set takedown.Set, everywhere bool) (*book.Erased, error) {
	e := book.Erasure{URL: forgets(set), Page: set.ForgetsID, Detail: New(set).namesForgotten, Within: set.Within()}
	if everywhere {
		e.Within = []layout.Range{{}}
	}
	return book.Erase(ctx, r, e)
}

// forgets returns a function that does the same as set.ForgetsURL for canonical URLs of which the places are known. It is
// faster: it hashes only URLs whose place ends as that of a forgotten one, and parses only one URL of each host.
func forgets(set takedown.Set) func(url string, at layout.Place) bool {
	ends := make(map[uint32]bool) // lower halves of places
	for id := range set.IDs() {
		ends[uint32(layout.PlaceOf("", id))] = true
	}
	ofHost := make(map[string]bool) // by the beginning of URLs, such as http://host:8080: whether the site is forgotten
	return func(url string, at layout.Place) bool {
		if ends[uint32(at)] && set.ForgetsID(layout.IdentityOf(url)) {
			return true
		}
		if !set.HasSites() {
			return false
		}
		begin := strings.Index(url, "://") + len("://")
		end := strings.IndexByte(url[begin:], '/')
		if begin < len("://") || end < 0 {
			return set.ForgetsURL(url)
		}
		host := url[:begin+end]
		forgotten, known := ofHost[host]
		if !known {
			a, err := address.Parse(url)
			if err != nil {
				return false
			}
			forgotten = set.ForgetsSite(a.Site)
			ofHost[host] = forgotten
		}
		return forgotten
	}
}
