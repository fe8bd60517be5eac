package membership

import (
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// HeldBack is the reason for which an admitted URL waits outside of the frontier: only other
// collections, or other seeds, are crawled for now.
const HeldBack = "held back"

// choose parses the seeds that s.Only names, and sets s.chosen to the result. It fails if a
// collection in s.Only has an invalid seed or pattern.
func (s *Members) choose() error {
	if s.Only == nil {
		return nil
	}
	s.chosen = make(map[string]*collection.Admission)
	for _, c := range *s.Only {
		if len(c.Seeds) == 0 {
			s.chosen[c.Collection] = nil
			continue
		}
		some := s.Collection(c.Collection)
		some.Seeds = slices.DeleteFunc(slices.Clone(some.Seeds), func(seed collection.Seed) bool { return !slices.Contains(c.Seeds, seed.URL) })
		admission, err := some.Rules()
		if err != nil {
			return fmt.Errorf("what is crawled of collection %s: %w", c.Collection, err)
		}
		s.chosen[c.Collection] = &admission
	}
	return nil
}

// HoldsBack reports whether an admitted URL with this path is held back: it is not
// requested for now, because only other collections, or other seeds of its collection,
// are crawled. Such a URL waits outside of the frontier, even if it is stored and due.
func (s *Members) HoldsBack(w Path, target address.Address) bool {
	if s.Only == nil {
		return false
	}
	seeds, found := s.chosen[w.Collection]
	switch {
	case !found:
		return true
	case seeds == nil:
		return false
	case w.Kind == book.Sitemap:
		return !seeds.HasSeedOn(target.Site)
	}
	return seeds.Decide(target, w.Depth, w.Hops) != ""
}
