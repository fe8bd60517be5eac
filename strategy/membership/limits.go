package membership

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Limit is a maximum for one tally. A tally is a count of the stored URLs of a collection, or of a
// part of them:
//
//	c:<collection>           pages and assets
//	a:<collection>           assets
//	h:<collection>:<host>    pages of a host
//	ah:<collection>:<host>   assets of a host
//	p:<collection>:<hash>    pages with the same address.Pattern
//	ap:<collection>:<hash>   assets with the same address.Pattern
type Limit struct {
	Tally  string // name of the tally (count of stored URLs) that is limited
	Pages  int64  // maximum number of stored URLs
	Reason string // reason for which further URLs are skipped; "" if they wait
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

// AssetLimits returns the limits of the named collection for a URL that is found as an asset (an
// image, a style sheet). The URL may be requested only while none of them is reached. They follow
// from the limits that the collection sets for pages. Two of them count pages, because the URL may
// turn out to be a page:
//
//	if the collection allows          at most this much may be stored
//	n pages                           AssetsPerPage × n assets
//	n pages                           (AssetsPerPage + 1) × n pages and assets together
//	n pages of a host                 AssetsPerPage × n assets of the host
//	n pages of a host                 2 × n pages of the host
//	n pages of one address.Pattern    n assets of the same address.Pattern
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

// limitAlike appends one limit to the given limits: the maximum number of stored URLs that have the
// same address.Pattern as the given address. It appends nothing if the collection has no such
// maximum, or if the pattern is empty. The parameter tally is the beginning of the name of the
// limit's tally: "p:" for pages, "ap:" for assets.
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

// Bounds returns the limits of the named collection toward which a stored URL counts. A page counts
// toward other limits than an asset of pages (an image, a style sheet):
//
//	the URL is    it counts toward                            if the limit is reached, further URLs
//	a page        each limit that the method Limits returns   are skipped
//	a page        the collection's limit of pages             wait
//	an asset      each limit of assets (see AssetLimits)      are skipped
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

// ofAssets returns the limits that count assets only. AssetLimits also returns limits that count
// pages and assets together; ofAssets leaves these out.
func (s *Members) ofAssets(name string, asset address.Address) []Limit {
	return slices.DeleteFunc(s.AssetLimits(name, asset), func(l Limit) bool { return l.Tally[0] != 'a' })
}

// Tallies returns the names of all tallies (counts of stored URLs) that include the URL of this
// outcome, which has been stored. Each of the outcome's collections has a tally of all its stored URLs
// (see CollectionTally), and one for each of its limits: limits of assets if the URL is an asset, else
// limits of pages. No name occurs twice.
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
// collection. The name is "" if the collection is unknown, or if it is the only
// collection and has no limit of pages.
func (s *Members) CollectionTally(name string) string {
	if m, found := s.byName[name]; !found || len(s.Collections) < 2 && m.Pages == 0 {
		return ""
	}
	return "c:" + name
}

// AssetTally returns the name of the tally of all stored assets of a collection. Assets are counted
// only for a collection with a limit of pages.
func AssetTally(name string) string { return "a:" + name }

// Counts holds two numbers for each tally (see Limit), by the name of the tally. Stored is the number
// of stored URLs. Taken is the number of URLs for which Take has reserved room: they are not stored
// yet, but may be stored later.
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

// Take reserves room for one more URL under each of these limits: it adds 1 to the number in Taken
// for the limit's tally, and returns true. But if the sum of a tally's numbers in Stored and Taken
// has reached its limit, Take changes nothing and returns false.
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
