package settings

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Bounds returns all limits on which a page of the collection counts while it is
// stored: Limits, and that of all its pages, whose reason is "".
func (s *Settings) Bounds(name string, page address.Address) []Limit {
	bounds := s.Limits(name, page)
	if most := s.Collection(name).StopAt; most > 0 {
		bounds = append(bounds, Limit{Tally: s.CollectionTally(name), Pages: most})
	}
	return bounds
}

// Stored is how many pages are stored, by tallies.
type Stored map[string]int64

// Take counts one page more, if that is within all bounds.
func (n Stored) Take(bounds []Limit) bool {
	for _, b := range bounds {
		if n[b.Tally] >= b.Pages {
			return false
		}
	}
	for _, b := range bounds {
		n[b.Tally]++
	}
	return true
}

// Tallies returns the names on which a page counts that is stored for these
// collections, each once: those of the limits of each that there is, and its
// own, see CollectionTally.
func (s *Settings) Tallies(collections []string, page address.Address) []string {
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
func (s *Settings) CollectionTally(name string) string {
	if m, found := s.members[name]; !found || len(s.Collections) < 2 && m.StopAt == 0 {
		return ""
	}
	return "c:" + name
}
