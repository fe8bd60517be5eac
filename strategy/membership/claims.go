package membership

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Claiming returns the names of the collections that claim a page found at this depth and after
// this number of redirects. The page belongs to these collections even if only another one has
// found it. The collections in sure claim every such page; those in topical have a topic, and claim
// the page only if it is on their topic. Both lists are sorted, and empty if there is only one
// collection. Takedowns and strategies are not considered.
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

// Claims reports whether the named collection claims a page, whatever the page's topic (see
// Claiming): the page belongs to it even if only another collection has found it. If there is only
// one collection, the result is false.
func (s *Members) Claims(name string, page address.Address, depth uint16, hops uint8) bool {
	m, found := s.byName[name]
	return found && len(s.Collections) > 1 && m.Topic == nil && m.claims(page, depth, hops)
}

// claims reports whether the collection claims a page, whatever the topic of the page. It
// claims its seeds at depth 0. If it does not limit the number of its pages, it also claims
// the pages for which collection.Admission.Claims returns true.
func (m member) claims(page address.Address, depth uint16, hops uint8) bool {
	if depth == 0 && hops <= collection.MaxHops && m.IsSeed(page) {
		return true
	}
	return m.rank != rankLimited && m.Admission.Claims(page, hops)
}

// ClaimingSitemap returns the names of the collections that read a sitemap even if only
// another collection has found it: those with a seed on its site, sorted. If there is
// only one collection, none is returned.
func (s *Members) ClaimingSitemap(at address.Address) []string {
	return s.others(func(m member) bool { return m.HasSeedOn(at.Site) })
}

// others returns the names of the collections for which wanted returns true. If there is only
// one collection, it returns none.
func (s *Members) others(wanted func(member) bool) []string {
	if len(s.Collections) < 2 {
		return nil
	}
	return s.those(wanted)
}

// The ranks of collections. If several collections want a page, it is requested on behalf
// of the one with the lowest rank.
const (
	rankSeeks   = iota // the collection needs links of its own to find pages, or has a topic
	rankClaims         // the collection claims pages that others find, and has no topic
	rankLimited        // the collection limits the number of its pages, so that its URLs may never be requested
)

// rankOf returns the rank of a collection (see rankSeeks). A page that several collections want is
// requested on behalf of the one with the lowest rank.
func rankOf(m member) int {
	switch {
	case m.Pages > 0 || m.HostPages > 0 || m.PatternPages > 0:
		return rankLimited
	case m.IsClaimer() && m.Topic == nil:
		return rankClaims
	}
	return rankSeeks
}

// Compare compares two names of collections by rank (see the package comment), then
// alphabetically. If several collections want a page, it is requested on behalf of the
// first in this order.
func (s *Members) Compare(a, b string) int {
	return cmp.Or(s.compareRanks(a, b), cmp.Compare(a, b))
}

func (s *Members) compareRanks(a, b string) int {
	return cmp.Compare(s.byName[a].rank, s.byName[b].rank)
}

// IsLimited reports whether a collection limits the number of its pages. If so, its URLs may wait
// for ever, because the limit is reached.
func (s *Members) IsLimited(name string) bool { return s.byName[name].rank == rankLimited }

// Waiting returns the collections for which a URL waits, first the one on whose behalf it is
// requested. w is an admitted path to the URL. Usually the collection of w is the only one. In two
// cases the URL also waits for all other collections that claim it whatever its topic (see
// Claiming), unless it is a sitemap:
//
//   - The collection of w has a limit of pages, so that the URL may never be requested for it.
//   - The collection of w holds the URL back for now (see HoldsBack).
//
// Collections for which the URL is held back come last.
func (s *Members) Waiting(w Path, page address.Address) []string {
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

// Still returns those collections in a URL's last final outcome that still admit the URL, in
// the order of the outcome. The parameter at is the URL's address. Topics are not considered,
// because the URL was admitted once already.
func (s *Members) Still(last book.Outcome, at address.Address) (names []string) {
	for _, name := range last.Collections {
		if s.Decide(again(name, last), at) == "" {
			names = append(names, name)
		}
	}
	return names
}

// Asking returns the collections that Still returns, except those for which the URL is held
// back (see HoldsBack).
func (s *Members) Asking(last book.Outcome, at address.Address) []string {
	return slices.DeleteFunc(s.Still(last, at), func(name string) bool { return s.HoldsBack(again(name, last), at) })
}

// Lacking returns the first collection that claims a URL whatever its topic (see Claiming)
// and admits it, but is not in its last final outcome; "" if there is none. For a sitemap,
// only the collections of ClaimingSitemap are considered. A collection for which the URL is
// held back (see HoldsBack) is returned only if there is no other.
func (s *Members) Lacking(last book.Outcome, at address.Address) string {
	claiming, _ := s.Claiming(at, last.Depth, last.Hops)
	if IsSitemap(last) {
		claiming = s.ClaimingSitemap(at)
	}
	held := ""
	for _, name := range claiming {
		path := again(name, last)
		switch {
		case slices.Contains(last.Collections, name) || s.Decide(path, at) != "":
		case !s.HoldsBack(path, at):
			return name
		case held == "":
			held = name
		}
	}
	return held
}

// again returns the path by which a URL with this last final outcome is requested again on
// behalf of the named collection. For a page, the path has the kind Redirect, because the
// targets of redirects need not be on topic.
func again(name string, last book.Outcome) Path {
	w := Path{Collection: name, Kind: book.Redirect, Depth: last.Depth, Hops: last.Hops}
	if IsSitemap(last) {
		w.Kind = book.Sitemap
	}
	if last.Asset {
		w.Kind = book.Asset
	}
	return w
}
