package membership

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Claiming returns the names of the collections that claim a page which was found at this depth and
// after this number of redirects. Such a page belongs to them even if only another collection has
// found it. The first list holds collections without a topic. Each collection in the second list has
// a topic, and claims the page only if the page is on this topic; the caller must find that out. Both
// lists are sorted. They are empty if there is only one collection. Takedowns and strategies are not
// considered.
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

// others returns the names of the collections for which the given function returns true. It is used
// to find collections that claim what another collection has found. So it returns none if there is
// only one collection.
func (s *Members) others(wanted func(member) bool) []string {
	if len(s.Collections) < 2 {
		return nil
	}
	return s.those(wanted)
}

// The ranks of collections. If several collections want a page, it is requested on behalf
// of the one with the lowest rank.
const (
	rankSeeks   = iota // the collection has a topic, or gets only pages to which its own pages link
	rankClaims         // the collection has no topic, and also gets pages that only other collections find
	rankLimited        // the collection limits the number of its pages, so its URLs might wait for ever
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

// Rank returns the rank of a collection. If several collections want a page, it is requested for one of those with
// the lowest number (see the package comment).
func (s *Members) Rank(name string) int { return s.byName[name].rank }

// IsLimited reports whether a collection limits the number of its pages. When the limit is reached,
// the collection's other URLs are not requested, and may wait for ever.
func (s *Members) IsLimited(name string) bool { return s.byName[name].rank == rankLimited }

// Waiting returns the collections for which a URL waits, first the one on whose behalf it is
// requested. The parameter w is an admitted path to the URL. Usually the URL waits only for the
// collection of this path. In two cases that collection may not request the URL, or not for now:
//
//   - The collection has a limit of pages, which may be reached before the URL is requested.
//   - The URL is held back for this collection (see HoldsBack).
//
// In these cases the URL also waits for all other collections that claim it whatever its topic (see
// Claiming), unless it is a sitemap. Collections for which the URL is held back come last.
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

// Asking returns the collections for which a URL may be requested again now. These are the
// collections in its last final outcome that still admit it (see Still), unless they are held back
// (see HoldsBack).
func (s *Members) Asking(last book.Outcome, at address.Address) []string {
	return slices.DeleteFunc(s.Still(last, at), func(name string) bool { return s.HoldsBack(again(name, last), at) })
}

// Lacking returns a collection that lacks a URL, or "" if there is none. A collection lacks a URL if
// these conditions hold:
//
//   - The collection admits the URL.
//   - The collection claims the URL, and has no topic (see Claiming). A sitemap is claimed by the
//     collections that ClaimingSitemap returns, with or without a topic.
//   - The URL's last final outcome does not list the collection.
//
// If several collections lack the URL, the result is the first of them for which the URL is not held
// back (see HoldsBack). If the URL is held back for all of them, the result is the first.
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

// again returns the path by which a URL with this last final outcome is requested again on behalf of
// the named collection. The path has no weight. If the collection has a topic, a path without a
// weight is off topic, unless it ends with a redirect (see isOffTopic). So if the URL is a page, the
// path gets the kind Redirect.
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
