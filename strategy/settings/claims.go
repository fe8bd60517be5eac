package settings

import (
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Where two collections want a page, it is stored once, and is one of both. Some
// claim it, whoever has found it. Others must come to it themselves: what another
// has they lack until it is asked for on their behalf, too, for only then its
// links are followed as deep as they want. The frontier and the account tell what
// is lacking; what nobody can tell at once is missed until a rebuild.

// Claiming returns the collections of which a page is one, whoever has found it
// at that depth: those of which it surely is, and those of which it is if it is on
// their topic, each sorted; takedowns and strategies apart. Where there are no
// two collections, there is no other to claim it.
func (s *Settings) Claiming(page address.Address, depth uint16, hops uint8) (sure, topical []string) {
	for _, name := range s.others(func(m member) bool { return m.claims(page, depth, hops) }) {
		if s.members[name].Topic == nil {
			sure = append(sure, name)
		} else {
			topical = append(topical, name)
		}
	}
	return sure, topical
}

// claims reports whether the collection surely claims a page.
func (s *Settings) claims(name string, page address.Address, depth uint16, hops uint8) bool {
	m := s.members[name]
	return m.Topic == nil && m.claims(page, depth, hops)
}

// claims reports whether a page is one of the collection: a seed that is asked
// for as one, or what collection.Admission.Claims says, unless pages are counted.
func (m member) claims(page address.Address, depth uint16, hops uint8) bool {
	if depth == 0 && hops <= collection.MaxHops && m.IsSeed(page) {
		return true
	}
	return !m.isLimited() && m.Claims(page, hops)
}

// isLimited reports whether the operator limits how many pages are stored.
func (m member) isLimited() bool { return m.StopAt > 0 || m.HostPages > 0 || m.PatternPages > 0 }

// The ranks of collections on whose behalf a page may be asked for, the first
// that asks for it.
const (
	rankSeeks   = iota // it needs links of its own to each page
	rankClaims         // it takes part in what others find
	rankLimited        // what waits on its behalf may wait in vain
)

// Rank sorts collections on whose behalf a page may be asked for: the lowest
// asks, so that most get it.
func (s *Settings) Rank(name string) int {
	m, found := s.members[name]
	switch {
	case !found:
		return rankSeeks
	case m.isLimited():
		return rankLimited
	case m.IsClaimer() && m.Topic == nil:
		return rankClaims
	}
	return rankSeeks
}

// IsLimited reports whether what waits on behalf of a collection may wait in
// vain, because it wants no more than so many pages.
func (s *Settings) IsLimited(name string) bool { return s.Rank(name) == rankLimited }

// ClaimingSitemap returns the collections that read a sitemap, whoever has found
// it, sorted: those with a seed on its site, if there are two collections at all.
func (s *Settings) ClaimingSitemap(at address.Address) []string {
	return s.others(func(m member) bool { return m.HasSeedOn(at.Site) })
}

func (s *Settings) others(claims func(member) bool) (names []string) {
	if len(s.Collections) < 2 {
		return nil
	}
	for i := range s.Collections {
		if name := s.Collections[i].Name; claims(s.members[name]) {
			names = append(names, name)
		}
	}
	return names
}
