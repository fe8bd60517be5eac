package membership

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Limit is how many stored pages may count on a tally.
type Limit struct {
	Tally  string // a short name of what is counted
	Pages  int64
	Reason string // for which more are skipped
}

// Limits returns the limits on which a page of the collection counts while it
// is stored: none where the collection limits neither the pages of a host nor
// those alike. Pages alike have one address.Pattern.
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

// Bounds returns all limits on which a page of the collection counts while it is
// stored: Limits, and that of all its pages, at which others wait and none is
// skipped.
func (s *Members) Bounds(name string, page address.Address) []Limit {
	bounds := s.Limits(name, page)
	if most := s.Collection(name).Pages; most > 0 {
		bounds = append(bounds, Limit{Tally: s.CollectionTally(name), Pages: most})
	}
	return bounds
}

// Tallies returns the names on which a page counts that is stored for these
// collections, each once: those of the limits of each that there is, and its
// own, see CollectionTally.
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

// CollectionTally returns the name on which all stored pages of a collection
// count: "" where none needs to know, because it is the only one and has no
// limit of pages, or where there is no such collection.
func (s *Members) CollectionTally(name string) string {
	if m, found := s.byName[name]; !found || len(s.Collections) < 2 && m.Pages == 0 {
		return ""
	}
	return "c:" + name
}

// Counts are how many pages count on tallies: those that are stored, and those
// that are taken, which may be stored.
type Counts struct{ Stored, Taken map[string]int64 }

// NewCounts returns counts of nothing.
func NewCounts() Counts { return Counts{make(map[string]int64), make(map[string]int64)} }

// Full returns the first of the limits that is reached by what is stored.
func (n Counts) Full(limits []Limit) (full Limit, found bool) {
	at := slices.IndexFunc(limits, func(l Limit) bool { return n.Stored[l.Tally] >= l.Pages })
	if at < 0 {
		return full, false
	}
	return limits[at], true
}

// Take takes one page more, on all limits or on none: it reports whether there
// is room for it even if all is stored that is taken.
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
