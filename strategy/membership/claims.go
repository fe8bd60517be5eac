package membership

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Claiming returns the collections of which a page is one, whoever has found it
// at that depth: those of which it surely is, and those of which it is if it is on
// their topic, each sorted; takedowns and strategies apart. Where there are no
// two collections, there is no other to claim it.
func (s *Members) Claiming(page address.Address, depth uint16, hops uint8) (sure, topical []string) {
	for _, name := range s.others(func(m member) bool { return m.claims(page, depth, hops) }) {
		if s.byName[name].Topic == nil {
			sure = append(sure, name)
		} else {
			topical = append(topical, name)
		}
	}
	return sure, topical
}

// Claims reports whether the collection surely claims a page (see Claiming).
func (s *Members) Claims(name string, page address.Address, depth uint16, hops uint8) bool {
	m, found := s.byName[name]
	return found && len(s.Collections) > 1 && m.Topic == nil && m.claims(page, depth, hops)
}

// claims reports whether a page is one of the collection: a seed that is asked
// for as one, or what collection.Admission.Claims says, unless pages are counted.
func (m member) claims(page address.Address, depth uint16, hops uint8) bool {
	if depth == 0 && hops <= collection.MaxHops && m.IsSeed(page) {
		return true
	}
	return m.rank != rankLimited && m.Admission.Claims(page, hops)
}

// ClaimingSitemap returns the collections that read a sitemap, whoever has found
// it, sorted: those with a seed on its site, if there are two collections at all.
func (s *Members) ClaimingSitemap(at address.Address) []string {
	return s.others(func(m member) bool { return m.HasSeedOn(at.Site) })
}

func (s *Members) others(wanted func(member) bool) []string {
	if len(s.Collections) < 2 {
		return nil
	}
	return s.those(wanted)
}

// The ranks of collections on whose behalf a page may be asked for. The lowest
// asks, so that most get it.
const (
	rankSeeks   = iota // it needs links of its own to each page
	rankClaims         // it takes part in what others find
	rankLimited        // what waits on its behalf may wait in vain
)

func rankOf(m member) int {
	switch {
	case m.Pages > 0 || m.HostPages > 0 || m.PatternPages > 0:
		return rankLimited
	case m.IsClaimer() && m.Topic == nil:
		return rankClaims
	}
	return rankSeeks
}

// Compare sorts the names of collections by who asks for a page that several
// want.
func (s *Members) Compare(a, b string) int {
	return cmp.Or(s.compareRanks(a, b), cmp.Compare(a, b))
}

func (s *Members) compareRanks(a, b string) int {
	return cmp.Compare(s.byName[a].rank, s.byName[b].rank)
}

// IsLimited reports whether what waits on behalf of a collection may wait in
// vain, because it wants no more than so many pages.
func (s *Members) IsLimited(name string) bool { return s.byName[name].rank == rankLimited }

// Waiting returns the collections on whose behalf a URL waits to which a
// collection has a way that is admitted: first who asks for it. What a collection
// with a limit of pages comes to may wait in vain, and what one that is held back
// comes to does for now, so it waits, too, for all that surely claim it. Those
// that are held back are behind the others (see HoldsBack).
func (s *Members) Waiting(w Way, page address.Address) []string {
	names := []string{w.Collection}
	if w.Kind == book.Sitemap || !s.IsLimited(w.Collection) && !s.HoldsBack(w, page) {
		return names
	}
	sure, _ := s.Claiming(page, w.Depth, w.Hops)
	for _, other := range sure {
		if other != w.Collection {
			names = append(names, other)
		}
	}
	held := func(name string) int {
		if w.Collection = name; s.HoldsBack(w, page) {
			return 1
		}
		return 0
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(held(a)-held(b), s.Compare(a, b)) })
	return names
}

// Still returns those of the collections of a final outcome that would have the
// URL asked for again, in their order. A page was chosen before, so no link
// needs to be on topic.
func (s *Members) Still(last book.Outcome, at address.Address) (names []string) {
	for _, name := range last.Collections {
		if s.Decide(again(name, last), at) == "" {
			names = append(names, name)
		}
	}
	return names
}

// Asking returns those of Still that are not held back (see HoldsBack).
func (s *Members) Asking(last book.Outcome, at address.Address) []string {
	return slices.DeleteFunc(s.Still(last, at), func(name string) bool { return s.HoldsBack(again(name, last), at) })
}

// Lacking returns the first collection that surely claims a URL, and is none of
// those of its last final outcome, held back only if all of them are; "" if there
// is none.
func (s *Members) Lacking(last book.Outcome, at address.Address) string {
	claiming, _ := s.Claiming(at, last.Depth, last.Hops)
	if IsSitemap(last) {
		claiming = s.ClaimingSitemap(at)
	}
	held := ""
	for _, name := range claiming {
		way := again(name, last)
		switch {
		case slices.Contains(last.Collections, name) || s.Decide(way, at) != "":
		case !s.HoldsBack(way, at):
			return name
		case held == "":
			held = name
		}
	}
	return held
}

func again(name string, last book.Outcome) Way {
	w := Way{Collection: name, Kind: book.Redirect, Depth: last.Depth, Hops: last.Hops}
	if IsSitemap(last) {
		w.Kind = book.Sitemap
	}
	return w
}
