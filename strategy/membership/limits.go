package membership

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Limit is the highest number of stored pages on a tally.
type Limit struct {
	Tally  string // a short name of what is counted
	Pages  int64
	Reason string // for which further pages are skipped
}

// Limits returns the limits on which a stored page of the collection counts: of the
// pages of its host, and of the pages with the same address.Pattern, as far as the
// collection has them.
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

// Bounds returns Limits and the limit of all pages of the collection. At the latter
// further URLs wait; at the former they are skipped.
func (s *Members) Bounds(name string, page address.Address) []Limit {
	bounds := s.Limits(name, page)
	if most := s.Collection(name).Pages; most > 0 {
		bounds = append(bounds, Limit{Tally: s.CollectionTally(name), Pages: most})
	}
	return bounds
}

// Tallies returns the names of the tallies on which a stored page of these collections
// counts: those of their limits and those of the collections themselves
// (CollectionTally). No name occurs twice.
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

// Counts holds the numbers of pages on tallies: stored pages, and taken pages, which
// may be stored later.
type Counts struct{ Stored, Taken map[string]int64 }

// NewCounts returns empty counts.
func NewCounts() Counts { return Counts{make(map[string]int64), make(map[string]int64)} }

// Full returns the first limit that the stored pages have reached.
func (n Counts) Full(limits []Limit) (full Limit, found bool) {
	at := slices.IndexFunc(limits, func(l Limit) bool { return n.Stored[l.Tally] >= l.Pages })
	if at < 0 {
		return full, false
	}
	return limits[at], true
}

// Take adds a taken page to all the limits, or to none. It returns false when stored
// and taken pages together have reached one of them.
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
