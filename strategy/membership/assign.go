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

// Assign decides whether to follow the links that fetch has found on the pages. It writes three things
// into each link: the collection for which the link is followed, the target as this collection crawls
// it, and the decision. All later users of the link (book, frontier, account) rely on this decision.
// Assign returns the links and, after them, copies of links for further collections. It fails on the
// first malformed target. Unless the function admitted is nil, Assign calls it with each admitted link
// and the link's target. The function must not keep the pointer.
//
// The collection: a page may belong to several collections. Each link of the page is given to the
// first of them that admits the link. They are tried in the order of their ranks (see Compare); within
// a rank, the collection for which the page was requested comes first. Each further collection that
// admits the link gets a copy, unless it gets the same target even without a link (see Claiming).
//
// The target: Assign removes the parameters that the collection drops, except in two cases:
//
//   - The target is an asset, and no collection stores assets.
//   - Without the parameters, a redirect would lead from a page back to the page itself. (Some sites
//     show a page only with a session id, and redirect to the URL with the id.)
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
	shared   map[layout.Identity][]string      // names of the collections of each page that belongs to several (see sharedPages)
	targets  map[string]*linkTarget            // targets of links, parsed, by their URL
	copies   []book.Link                       // copies of links for further collections
	admitted func(*book.Link, address.Address) // function that is called with each admitted link and its target; nil: none
	assets   bool                              // true if any collection stores assets
}

// linkTarget is a URL to which links lead. It holds the decision on the last of these links, and the
// path (collection, depth, weight, ...) of that link. If the next link to the URL has an equal path,
// the decision is used again. Most links are such repetitions, because most pages of a site have the
// same links.
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

// share decides on a link of a page. The page belongs to several collections, which share asks in the
// order of their ranks:
//
//   - The first collection that admits the link gets it. The target loses the parameters that this
//     collection drops.
//   - Each further collection that admits the link gets a copy. But it needs none if it crawls the
//     same target as the first, and claims this target even without a link (see claimsTarget).
//   - If no collection admits the link, the link is refused. The reason is that of the collection on
//     whose behalf the page was requested.
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
// to this collection even if the target is fetched on behalf of another collection.
func (a *assigner) claimsTarget(w Path, target address.Address) bool {
	if w.Kind == book.Sitemap {
		return a.byName[w.Collection].HasSeedOn(target.Site)
	}
	return a.Claims(w.Collection, target, w.Depth, w.Hops)
}

// inTurn returns the name of one collection (the parameter first) and the names of others, sorted by
// rank (see compareRanks) and each only once. Within a rank, that one collection comes before
// the others, and these keep their order.
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

// sharedPages finds the pages that belong to several collections. For each such page, by its identity,
// it returns the names of the collections. The first is the collection on whose behalf the page was
// requested, and the page's depth is counted from a seed of this collection. The others have the page
// because they claim it (see Claiming).
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

// sharing returns those collections in a page's outcome to which the page belongs. The first one in
// the outcome, on whose behalf the page was requested, is always among them. The page belongs to each
// other collection only if this collection claims it. A sitemap belongs to all collections in its
// outcome.
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
