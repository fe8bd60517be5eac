package settings

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// A storage strategy assigns only new pages. Stored pages stay where they are, so readers
// need the partitions of all versions of the strategy.

// Partitions returns the storage partitions to which any version of the storage strategy assigns
// pages, sorted by number.
func (s *Settings) Partitions() []layout.Partition {
	return s.everywhere(rules.Document.Partitions)
}

// Store returns the storage partition in which a new page is stored. It fails with
// rules.ErrRefused if the storage strategy refuses the page, and with rules.ErrNoRule if no rule
// matches.
func (s *Settings) Store(page address.Address) (layout.Partition, error) {
	p, err := s.Storage.Decide(page)
	return layout.Partition(p), err
}

// Holding returns the storage partitions that may have versions of a page, sorted by number. There
// is only one, unless a version of the storage strategy has moved the page's site to another
// partition, or divides the site among several.
func (s *Settings) Holding(page address.Address) []layout.Partition {
	return s.everywhere(func(d rules.Document) []int { return d.OfSite(page) })
}

// Elsewhere returns the storage partitions, other than p, that may hold older or newer versions of
// the pages in p, sorted by number. If the rules of the storage strategy change, new versions of a page may be
// stored in another partition, and its older versions stay where they are. So the result has each partition that in
// some version of the strategy got sites that p got in the same or another version. After a split, these are
// only the two partitions that divide the sites.
func (s *Settings) Elsewhere(p layout.Partition) []layout.Partition {
	spans := make(map[layout.Partition][]layout.Range) // of all versions of the strategy
	for _, d := range s.storages {
		for other, all := range d.Spans() {
			spans[layout.Partition(other)] = append(spans[layout.Partition(other)], all...)
		}
	}
	return slices.DeleteFunc(s.Partitions(), func(other layout.Partition) bool {
		return other == p || !slices.ContainsFunc(spans[other], func(span layout.Range) bool {
			return slices.ContainsFunc(spans[p], span.Overlaps)
		})
	})
}

// everywhere calls the given function with each version of the storage strategy. It returns the
// union of the resulting partitions, sorted by number and each only once.
func (s *Settings) everywhere(of func(rules.Document) []int) []layout.Partition {
	var all []layout.Partition
	for _, d := range s.storages {
		for _, p := range of(d) {
			all = append(all, layout.Partition(p))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
