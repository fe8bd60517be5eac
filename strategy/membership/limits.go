package membership

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Limit is a maximum number of stored pages in a tally. A tally is a count of stored
// pages of one collection: of all, of those of a host, or of those with the same
// address.Pattern.
type Limit struct {
	Tally  string // name of the tally
	Pages  int64
	Reason string // reason for which further pages are skipped; "" if they wait
}

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
	alike := m.PatternPages
	if alike == 0 {
		alike = collection.DefaultPatternPages
	}
	if alike == collection.Unlimited {
		return limits
	}
	if pattern := address.Pattern(page); pattern != "" {
		hash := layout.IdentityOf(pattern).String()[:16]
		limits = append(limits, Limit{"p:" + name + ":" + hash, alike, AlikeFull})
	}
	return limits
}

// Bounds returns the limits that Limits returns and, if the collection has one, the limit of
// all its pages. Once one of Limits is reached, further URLs are skipped; once the limit of
// all pages is reached, they wait.
func (s *Members) Bounds(name string, page address.Address) []Limit {
	bounds := s.Limits(name, page)
	if most := s.Collection(name).Pages; most > 0 {
		bounds = append(bounds, Limit{Tally: s.CollectionTally(name), Pages: most})
	}
	return bounds
}

// Tallies returns the names of all tallies that count a stored page of these
// collections: those of their Limits, and the tally of all pages of each collection
// (see CollectionTally). No name occurs twice.
func (s *Members) Tallies(collections []string, page address.Address) []string {
	var names []string
	for i, name := range collections {
		if slices.Contains(collections[:i], name) {
			continue
		}
		for _, limit := range s.Limits(name, page) {
			names = append(names, limit.Tally)
		}
		if tally := s.CollectionTally(name); tally != "" {
			names = append(names, tally)
		}
	}
	return names
}

// CollectionTally returns the name of the tally of all stored pages of a collection.
// It is "" for an unknown collection, and for the only collection if it has no limit
// of pages.
func (s *Members) CollectionTally(name string) string {
	if m, found := s.byName[name]; !found || len(s.Collections) < 2 && m.Pages == 0 {
		return ""
	}
	return "c:" + name
}

// Counts holds two numbers for each tally, by the tally's name: Stored counts its stored
// pages, Taken the URLs for which Take was called, whose pages may be stored later.
type Counts struct{ Stored, Taken map[string]int64 }

// NewCounts returns counts in which every tally is 0.
func NewCounts() Counts { return Counts{make(map[string]int64), make(map[string]int64)} }

// Full returns the first of these limits that the number of stored pages has reached. found
// is false if no limit is reached.
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
