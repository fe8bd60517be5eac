package membership

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Limit is a maximum number of stored URLs in a tally. A tally counts the stored URLs of one
// collection, or a part of them:
//
//	c:<collection>           pages and assets
//	a:<collection>           assets
//	h:<collection>:<host>    pages of a host
//	ah:<collection>:<host>   assets of a host
//	p:<collection>:<hash>    pages with the same address.Pattern
//	ap:<collection>:<hash>   assets with the same address.Pattern
type Limit struct {
	Tally  string // name of the tally
	Pages  int64  // maximum number of stored URLs
	Reason string // reason for which further pages are skipped; "" if they wait
}

// AssetsPerPage is the number of assets that a limit of pages allows for each page.
const AssetsPerPage = 20

// Limits returns the limits of a collection toward which the page counts once it is stored:
// the limit of pages on the page's host, and the limit of pages with the same
// address.Pattern. It leaves out a limit that the collection does not set.
func (s *Members) Limits(name string, page address.Address) []Limit {
	m, found := s.byName[name]
	if !found {
		return nil
	}
	var limits []Limit
	if m.HostPages > 0 {
		limits = append(limits, Limit{"h:" + name + ":" + page.Host, m.HostPages, HostFull})
	}
	return m.limitAlike(limits, "p:", page)
}

// AssetLimits returns the limits of the named collection that must have room before a URL is
// requested as an asset of pages. Such a URL may turn out to be a page, so there are also limits
// of pages, or of pages and assets together:
//
//	limit of the collection    limit of assets                   further limit
//	pages                      AssetsPerPage × pages             (AssetsPerPage + 1) × pages, of all
//	                                                             that is stored for the collection
//	host_pages                 AssetsPerPage × host_pages        2 × host_pages, of the host's pages
//	pattern_pages              pattern_pages, of the assets      none
//	                           with the same address.Pattern
func (s *Members) AssetLimits(name string, asset address.Address) []Limit {
	m, found := s.byName[name]
	if !found {
		return nil
	}
	var limits []Limit
	if m.Pages > 0 {
		limits = append(limits,
			Limit{AssetTally(name), AssetsPerPage * m.Pages, AssetsFull},
			Limit{s.CollectionTally(name), (AssetsPerPage + 1) * m.Pages, AssetsFull})
	}
	if m.HostPages > 0 {
		limits = append(limits,
			Limit{"ah:" + name + ":" + asset.Host, AssetsPerPage * m.HostPages, AssetsFull},
			Limit{"h:" + name + ":" + asset.Host, 2 * m.HostPages, AssetsFull})
	}
	return m.limitAlike(limits, "ap:", asset)
}

// limitAlike appends to limits the limit on stored URLs with the same address.Pattern as the page,
// if there is such a limit. The parameter tally is the beginning of the name of the limit's tally:
// "p:" to count pages, "ap:" to count assets.
func (m member) limitAlike(limits []Limit, tally string, page address.Address) []Limit {
	alike := m.PatternPages
	if alike == 0 {
		alike = collection.DefaultPatternPages
	}
	if alike == collection.Unlimited {
		return limits
	}
	if pattern := address.Pattern(page); pattern != "" {
		hash := layout.IdentityOf(pattern).String()[:16]
		limits = append(limits, Limit{tally + m.Name + ":" + hash, alike, AlikeFull})
	}
	return limits
}

// Bounds returns all limits of the named collection toward which a stored URL counts. The last
// column of this table says what happens to further URLs when a limit is reached:
//
//	limits toward which the URL counts                            further URLs
//	a page:    those of the function Limits                       are skipped
//	           the limit of all pages of the collection           wait
//	an asset:  those of the function AssetLimits that count
//	           only assets                                        are skipped
func (s *Members) Bounds(name string, at address.Address, asset bool) []Limit {
	if asset {
		return s.ofAssets(name, at)
	}
	bounds := s.Limits(name, at)
	if most := s.Collection(name).Pages; most > 0 {
		bounds = append(bounds, Limit{Tally: s.CollectionTally(name), Pages: most})
	}
	return bounds
}

// ofAssets returns those limits of AssetLimits that count only assets, and no pages.
func (s *Members) ofAssets(name string, asset address.Address) []Limit {
	return slices.DeleteFunc(s.AssetLimits(name, asset), func(l Limit) bool { return l.Tally[0] != 'a' })
}

// Tallies returns the names of all tallies that count the stored URL of an outcome: those
// of the limits that its collections have for pages or for assets, and the tally of each
// collection (see CollectionTally). No name occurs twice.
func (s *Members) Tallies(stored book.Outcome, at address.Address) []string {
	var names []string
	for i, name := range stored.Collections {
		if slices.Contains(stored.Collections[:i], name) {
			continue
		}
		limits := s.Limits(name, at)
		if stored.Asset {
			limits = s.ofAssets(name, at)
		}
		for _, limit := range limits {
			names = append(names, limit.Tally)
		}
		if tally := s.CollectionTally(name); tally != "" {
			names = append(names, tally)
		}
	}
	return names
}

// CollectionTally returns the name of the tally of all stored pages and assets of a
// collection. It is "" for an unknown collection, and for the only collection if it has
// no limit of pages.
func (s *Members) CollectionTally(name string) string {
	if m, found := s.byName[name]; !found || len(s.Collections) < 2 && m.Pages == 0 {
		return ""
	}
	return "c:" + name
}

// AssetTally returns the name of the tally of all stored assets of a collection. Assets are counted
// only for a collection with a limit of pages.
func AssetTally(name string) string { return "a:" + name }

// Counts holds two numbers for each tally, by the tally's name: Stored is the number of stored
// URLs; Taken is the number of URLs for which Take returned true, because they may be stored later.
type Counts struct{ Stored, Taken map[string]int64 }

// NewCounts returns counts in which every tally is 0.
func NewCounts() Counts { return Counts{make(map[string]int64), make(map[string]int64)} }

// Full returns the first of these limits that the number of stored URLs has reached. found is false
// if no limit is reached.
func (n Counts) Full(limits []Limit) (full Limit, found bool) {
	at := slices.IndexFunc(limits, func(l Limit) bool { return n.Stored[l.Tally] >= l.Pages })
	if at < 0 {
		return full, false
	}
	return limits[at], true
}

// Take adds 1 to Taken for the tally of each of these limits. If Stored and Taken together
// have reached one of the limits already, it adds nothing and returns false.
func (n Counts) Take(limits []Limit) bool {
	for _, l := range limits {
		if n.Stored[l.Tally]+n.Taken[l.Tally] >= l.Pages {
			return false
		}
	}
	for _, l := range limits {
		n.Taken[l.Tally]++
	}
	return true
}
