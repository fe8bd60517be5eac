package membership

import (
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Page is the outcome of a request for a page, with the parsed address of the page.
type Page struct {
	*book.Outcome
	Address address.Address
}

// ParsePages parses the URLs of outcomes. It fails on the first malformed one.
func ParsePages(outcomes []book.Outcome) ([]Page, error) {
	pages := make([]Page, len(outcomes))
	for i := range outcomes {
		at, err := address.Parse(outcomes[i].URL)
		if err != nil {
			return nil, fmt.Errorf("url %q of an outcome: %w", outcomes[i].URL, err)
		}
		pages[i] = Page{&outcomes[i], at}
	}
	return pages, nil
}

// Assign decides on the links that fetch has found on the pages. In each link it sets the target
// that is crawled, the collection for which the link is followed, and the decision, so that book,
// frontier and account agree. It returns the links and their copies for further collections, and
// fails on the first malformed target. It calls the function admitted, unless that is nil, with
// each admitted link and the link's target; the function must not keep the pointer.
//
// The parameters that the collection drops are removed from a target. There are two exceptions:
// assets, if no collection stores them; and a redirect that would then lead back to its source,
// because some sites show a page only with a session id.
//
// The links of a page belong to all collections of the page. A link is given to the first of these
// collections that admits it. They are tried in the order of their ranks (see Compare); within a
// rank, the collection for which the page was requested comes first. Each other collection that
// admits the link gets a copy, unless it claims the same target anyway (see Claiming).
func (s *Members) Assign(links []book.Link, pages []Page, admitted func(l *book.Link, target address.Address)) ([]book.Link, error) {
	if admitted == nil {
		admitted = func(*book.Link, address.Address) {}
	}
	a := assigner{Members: s, shared: s.sharedPages(pages), targets: make(map[string]*linkTarget), admitted: admitted}
	a.assets = slices.ContainsFunc(s.Collections, func(c collection.Collection) bool { return c.Assets })
	for i := range links {
		if err := a.link(&links[i]); err != nil {
			return nil, err
		}
	}
	return append(links, a.copies...), nil
}

// assigner decides on the links of one call of Assign. It remembers which pages belong to several
// collections, and the targets that it has parsed.
type assigner struct {
	*Members
	shared   map[layout.Identity][]string      // collections of each page that belongs to several (see sharedPages)
	targets  map[string]*linkTarget            // targets of links, parsed, by their URL
	copies   []book.Link                       // copies of links for further collections
	admitted func(*book.Link, address.Address) // parameter of Assign
	assets   bool                              // true if any collection stores assets
}

// linkTarget is a target of links, with the last decision on a link to it, and the path for which
// this decision was made. A further link with the same path needs no new decision; there are many,
// because most pages of a site have the same links.
type linkTarget struct {
	address address.Address
	path    Path
	last    decision
}

// decision is the decision on a link: the address that is crawled in place of its target,
// and the reason of a refusal, "" if the link is admitted.
type decision struct {
	to     address.Address
	reason string
}

// link decides whether one link is admitted, and writes the decision into the link.
func (a *assigner) link(l *book.Link) error {
	if l.Kind == book.Asset && !a.assets {
		l.Decision = Asset
		return nil
	}
	t, known := a.targets[l.Target]
	if !known {
		at, err := address.Parse(l.Target)
		if err != nil {
			return fmt.Errorf("target %q of a link: %w", l.Target, err)
		}
		t = &linkTarget{address: at}
		a.targets[l.Target] = t
	}
	if names := a.shared[l.Source]; names != nil {
		a.share(l, t.address, names)
		return nil
	}
	if path := PathOf(*l); l.Kind == book.Redirect || !known || path != t.path {
		t.path, t.last = path, a.decide(path, l.Source, t.address)
	}
	a.apply(l, t.last)
	return nil
}

// decide returns the decision on a link to the target. source is the identity of the page
// with the link, and w the path that ends with the link.
func (a *assigner) decide(w Path, source layout.Identity, target address.Address) decision {
	to := a.Clean(w.Collection, target)
	if w.Kind == book.Redirect && to.ID == source {
		to = target
	}
	return decision{to, a.Decide(w, to)}
}

// apply writes a decision into a link: the address that is crawled in place of the target,
// and the reason of a refusal.
func (a *assigner) apply(l *book.Link, d decision) {
	l.Target, l.Place, l.Decision = d.to.URL, d.to.Place, d.reason
	if d.reason == "" {
		a.admitted(l, d.to)
	}
}

// share decides on a link of a page that belongs to several collections, those in names:
//
//   - The link is given to the first collection, by rank, that admits it.
//   - Each further collection that admits the link gets a copy, unless this collection claims
//     the same target anyway.
//   - If no collection admits the link, the link is refused, with the reason of the collection
//     for which the page was requested.
func (a *assigner) share(l *book.Link, target address.Address, names []string) {
	var refused decision // decision for the collection for which the page was requested
	own, given := *l, ""
	for _, name := range a.inTurn(l.Collection, names) {
		path := PathOf(own)
		path.Collection = name
		d := a.decide(path, l.Source, target)
		switch {
		case d.reason != "" && name == own.Collection:
			refused = d
		case d.reason != "":
		case given == "":
			l.Collection, given = name, d.to.URL
			a.apply(l, d)
		case d.to.URL != given || !a.claimsTarget(path, d.to):
			next := own
			next.Collection = name
			a.apply(&next, d)
			a.copies = append(a.copies, next)
		}
	}
	if given == "" {
		a.apply(l, refused)
	}
}

// claimsTarget reports whether the collection of path w claims the target. Then the target belongs
// to this collection even if its page is fetched on behalf of another one.
func (a *assigner) claimsTarget(w Path, target address.Address) bool {
	if w.Kind == book.Sitemap {
		return a.byName[w.Collection].HasSeedOn(target.Site)
	}
	return a.Claims(w.Collection, target, w.Depth, w.Hops)
}

// inTurn returns the collection given by the parameter first and those in names, without doubles,
// sorted by their ranks (see compareRanks). Of collections with equal rank, the one given by first
// comes before the others, which keep their order.
func (a *assigner) inTurn(first string, names []string) []string {
	turn := make([]string, 1, 1+len(names))
	turn[0] = first
	for _, name := range names {
		if name != first {
			turn = append(turn, name)
		}
	}
	slices.SortStableFunc(turn, a.compareRanks)
	return turn
}

// sharedPages returns, by identity of each page that belongs to several collections, the names
// of these collections. The first one is the collection for which the page was requested, and
// to which the outcome's depth refers; the others claim the page.
func (s *Members) sharedPages(pages []Page) map[layout.Identity][]string {
	var shared map[layout.Identity][]string
	for _, p := range pages {
		if len(p.Collections) < 2 {
			continue
		}
		names := s.sharing(p)
		if len(names) > max(1, len(shared[p.Address.ID])) { // of several outcomes of one URL, that with most collections counts
			if shared == nil {
				shared = make(map[layout.Identity][]string)
			}
			shared[p.Address.ID] = names
		}
	}
	return shared
}

// sharing returns the collections in a page's outcome to which the page belongs: the first one, for
// which the page was requested, and those others that claim the page. For a sitemap, these are all
// collections in the outcome.
func (s *Members) sharing(p Page) []string {
	if IsSitemap(*p.Outcome) {
		return p.Collections
	}
	sure, topical := s.Claiming(p.Address, p.Depth, p.Hops)
	names := p.Collections[:1:1]
	for _, name := range p.Collections[1:] {
		if slices.Contains(sure, name) || slices.Contains(topical, name) {
			names = append(names, name)
		}
	}
	return names
}
