package membership

import (
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// HeldBack is the reason why an admitted URL waits outside of the frontier while the crawl is
// limited to other collections or seeds (see HoldsBack).
const HeldBack = "held back"

// choose sets s.chosen: the parsed form of s.Only, which lists the collections and seeds to which
// the crawl is limited. It fails if one of these collections has an invalid seed or pattern.
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

// HoldsBack reports whether a URL that is admitted by the path w is held back, that is, must not be
// requested for now. There are two reasons for this: a takedown that can still be taken back names the
// URL or its site, or the crawl is limited (see Only) to other collections, or to other seeds of the
// path's collection. A URL that is held back is in no queue of the frontier, even if it is stored and
// due.
func (s *Members) HoldsBack(w Path, target address.Address) bool {
	if s.Takedowns.Hidden().Forgets(target) {
		return true
	}
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
