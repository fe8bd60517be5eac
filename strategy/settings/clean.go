package settings

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Clean returns the address that is crawled on behalf of the collection in place
// of the target of a link: without the parameters that the collection drops.
func (s *Settings) Clean(name string, target address.Address) address.Address {
	return s.members[name].Clean(target)
}

// CleanLinks gives links, as fetch has found them, the targets that are crawled,
// so that book, frontier and account agree. The target of an image is never
// asked for and stays as it is, as does what is no address. So does the target
// of a redirect which cleaning would lead back to its source: some sites show
// their pages only to those who come with the session that they gave.
//
// It also gives them the collections on whose behalf they are followed, by the
// outcomes of the pages on which they are: a page may be asked for on behalf of
// one and claimed by others. Then a link is one of the first that admits it, by
// their ranks. Each other that admits it gets a copy, but for those that claim
// the target anyway, whoever comes there (see Claiming).
func (s *Settings) CleanLinks(links []book.Link, pages []book.Outcome) []book.Link {
	shared := s.sharedPages(pages)
	known := make(map[string]address.Address) // most targets are linked to often
	var copies []book.Link
	for i := range links {
		l := &links[i]
		if l.Kind == book.Image {
			continue
		}
		target, found := known[l.Target]
		if !found {
			var err error
			if target, err = address.Parse(l.Target); err != nil {
				continue
			}
			known[l.Target] = target
		}
		if names := shared[l.Source]; names != nil {
			copies = append(copies, s.share(l, target, names)...)
		} else {
			s.clean(l, target)
		}
	}
	return append(links, copies...)
}

// sharedPages returns the collections that share the links of a page: the first,
// for which the page is as deep as the outcome says, and those that claim it. It
// leaves out pages whose links are of one.
func (s *Settings) sharedPages(pages []book.Outcome) map[layout.Identity][]string {
	var shared map[layout.Identity][]string
	for i := range pages {
		o := &pages[i]
		if len(o.Collections) < 2 {
			continue
		}
		names := s.sharing(o)
		if id := o.Identity(); len(names) > max(1, len(shared[id])) { // one may be there twice
			if shared == nil {
				shared = make(map[layout.Identity][]string)
			}
			shared[id] = names
		}
	}
	return shared
}

func (s *Settings) sharing(o *book.Outcome) []string {
	if IsSitemap(*o) {
		return o.Collections
	}
	page, err := address.Parse(o.URL)
	if err != nil {
		return nil
	}
	sure, topical := s.Claiming(page, o.Depth, o.Hops)
	names := o.Collections[:1:1]
	for _, name := range o.Collections[1:] {
		if slices.Contains(sure, name) || slices.Contains(topical, name) {
			names = append(names, name)
		}
	}
	return names
}

// clean gives a link its target, and returns that.
func (s *Settings) clean(l *book.Link, target address.Address) address.Address {
	cleaned := s.Clean(l.Collection, target)
	if l.Kind == book.Redirect && cleaned.ID == l.Source {
		return target
	}
	l.Target, l.Place = cleaned.URL, cleaned.Place
	return cleaned
}

// share gives a link that collections share to one of them, and returns the
// copies for others.
func (s *Settings) share(l *book.Link, target address.Address, names []string) (copies []book.Link) {
	own := *l
	s.clean(l, target)
	for _, name := range s.inTurn(l.Collection, names) {
		next := own
		next.Collection = name
		cleaned := s.clean(&next, target)
		if s.Decide(WayOf(next), cleaned) == "" && (len(copies) == 0 || cleaned.URL != copies[0].Target || !s.claimsTarget(next, cleaned)) {
			copies = append(copies, next)
		}
	}
	if len(copies) == 0 {
		return nil
	}
	*l = copies[0]
	return copies[1:]
}

// claimsTarget reports whether the collection of a link would get its target, too,
// if another asked for it.
func (s *Settings) claimsTarget(l book.Link, target address.Address) bool {
	if l.Kind == book.Sitemap {
		return s.members[l.Collection].HasSeedOn(target.Site)
	}
	return s.claims(l.Collection, target, l.Depth, l.Hops)
}

// inTurn returns the names by rank, and of one rank the first before the others.
func (s *Settings) inTurn(first string, names []string) []string {
	turn := []string{first}
	for _, name := range names {
		if name != first {
			turn = append(turn, name)
		}
	}
	slices.SortStableFunc(turn, func(a, b string) int { return cmp.Compare(s.Rank(a), s.Rank(b)) })
	return turn
}
