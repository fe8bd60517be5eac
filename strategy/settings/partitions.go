package settings

import (
	"reflect"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// A storage strategy says where new pages go. What is stored stays where it is,
// so everyone else needs what all versions of it have ever named.

// Partitions returns the storage partitions that may hold something, sorted:
// those to which any version of the storage strategy sends pages.
func (s *Settings) Partitions() []layout.Partition {
	return s.everywhere(rules.Document.Partitions)
}

// Store returns the storage partition to which a new page goes, or
// rules.ErrRefused or rules.ErrNoRule.
func (s *Settings) Store(page address.Address) (layout.Partition, error) {
	p, err := s.Storage.Decide(page)
	return layout.Partition(p), err
}

// Holding returns the storage partitions that may hold something of a page,
// sorted. It is one where no strategy has moved the page's site or shares it
// out.
func (s *Settings) Holding(page address.Address) []layout.Partition {
	return s.everywhere(func(d rules.Document) []int { return d.OfSite(page) })
}

// Elsewhere returns the storage partitions that may hold other versions of the
// pages of a partition: none as long as all versions of the storage strategy
// have the same rules, else all others.
func (s *Settings) Elsewhere(p layout.Partition) []layout.Partition {
	for _, d := range s.storages {
		if !reflect.DeepEqual(d.Rules, s.storages[0].Rules) {
			return slices.DeleteFunc(s.Partitions(), func(other layout.Partition) bool { return other == p })
		}
	}
	return nil
}

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
