package settings

import (
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
func (s *Settings) CleanLinks(links []book.Link) {
	known := make(map[string]address.Address) // most targets are linked to often
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
		cleaned := s.Clean(l.Collection, target)
		if l.Kind != book.Redirect || cleaned.ID != l.Source {
			l.Target, l.Place = cleaned.URL, cleaned.Place
		}
	}
}
