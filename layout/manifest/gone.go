package manifest

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Gone is a page that was stored and is no more, as its last outcome says. The
// books keep that for good. It is on the list, too, while a document of an
// earlier version is alive, or may be made of a package or a spool object.
type Gone struct {
	ID      layout.Identity `json:"id"`
	Version layout.Version  `json:"version"` // of the outcome; documents of later ones are alive
	// Masked: in no segment a document of it is alive. Whoever lists another
	// segment keeps to that.
	Masked bool `json:"masked,omitempty"`
}

// AddGone lists pages that are gone, each once, sorted: of what is said of one,
// the highest version counts.
func (m *Manifest) AddGone(pages ...Gone) {
	m.Gone = append(m.Gone, pages...)
	slices.SortStableFunc(m.Gone, func(a, b Gone) int {
		return cmp.Or(a.ID.Compare(b.ID), b.Version.Compare(a.Version))
	})
	m.Gone = slices.CompactFunc(m.Gone, func(a, b Gone) bool { return a.ID == b.ID })
}

// FindGone returns what the list says of a page, nil if nothing.
func (m *Manifest) FindGone(id layout.Identity) *Gone {
	i, found := slices.BinarySearchFunc(m.Gone, id, func(g Gone, id layout.Identity) int { return g.ID.Compare(id) })
	if !found {
		return nil
	}
	return &m.Gone[i]
}
