package book

import (
	"cmp"
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Erasure selects what Erase leaves out of a book. Its functions must do the same each time they are
// called with the same argument.
type Erasure struct {
	// URL says whether a URL is erased, of which the book has the place: its outcomes, the links to it, and those of its
	// page.
	URL    func(url string, at layout.Place) bool
	Page   func(id layout.Identity) bool // whether the links of a page are left out, also if the book has no outcome of it
	Detail func(detail string) bool      // whether the Detail of another URL's outcome is emptied
	// Within are the ranges of places in which the erased URLs are expected: ascending and disjoint. If the book has an
	// outcome of an erased URL at another place, as when the URL counted to another site when it was requested (see
	// address.Address.Site), all links of this book are searched.
	Within []layout.Range
}

// Erased is a book from which Erase has left something out.
type Erased struct {
	Content         []byte
	Outcomes, Links int             // their numbers in Content
	Sites           map[uint32]bool // sites of the URLs whose outcomes, or links to them, were left out or changed
	// Elsewhere says that an erased URL has an outcome outside of Erasure.Within. Then other books may have links there.
	Elsewhere bool
}

// Erase returns the book without what the Erasure selects, in the same format version; nil if the book has
// nothing of it. Blocks without anything of it are copied as they are. So the bytes of the new book follow
// from those of the old one, but Merge would divide the same content into other blocks. In the table of
// sources, zeros take the place of a page whose links are left out: all other pages keep their indexes, to
// which the copied blocks refer.
//
// To find what is selected, Erase reads the outcomes, the table of sources, and the blocks with links to
// URLs in Erasure.Within (see there). If it finds something, it requests the whole book, with one request. Then memory
// holds the old book and the new one.
func Erase(ctx context.Context, r *Reader, e Erasure) (*Erased, error) {
	w := eraser{Erasure: e, selected: make(map[int64]bool), sites: make(map[uint32]bool)}
	if err := w.find(ctx, r); err != nil || len(w.selected) == 0 && !slices.Contains(w.gone, true) {
		return nil, err
	}
	content, err := r.read(ctx, 0, r.directory.size)
	if err != nil {
		return nil, err
	}
	whole, err := newReader(r.name, content, nil)
	if err != nil {
		return nil, err
	}
	if content, err = w.write(ctx, whole); err != nil {
		return nil, err
	}
	written, err := newReader(r.name, content, nil)
	if err != nil {
		return nil, err
	}
	outcomes, links := written.Counts()
	return &Erased{content, outcomes, links, w.sites, w.elsewhere}, nil
}

// eraser is one call of Erase.
type eraser struct {
	Erasure
	// selected has the offsets of the blocks with erased URLs or emptied Details. Other blocks may still have
	// links of pages whose links are left out.
	selected map[int64]bool
	table    []layout.Identity // the new table of sources
	gone     []bool            // for each source, whether its links are left out
	sites    map[uint32]bool   // becomes Erased.Sites

	elsewhere bool // becomes Erased.Elsewhere; from then on, Within is the whole space
}

// find sets the fields selected, table and gone.
func (e *eraser) find(ctx context.Context, r *Reader) error {
	pages := make(map[layout.Identity]bool)
	for b, err := range r.blocks(ctx, "outcomes", r.directory.outcomes) {
		if err != nil {
			return err
		}
		for o, err := range b.outcomes(layout.Range{}) {
			switch {
			case err != nil:
				return err
			case e.URL(o.URL, o.Place):
				pages[o.Identity()], e.selected[b.offset] = true, true
				e.elsewhere = e.elsewhere || !e.isWithin(o.Place)
			case e.Detail(o.Detail):
				e.selected[b.offset] = true
			}
		}
	}
	if e.elsewhere {
		e.Within = []layout.Range{{}}
	}
	table, err := r.Sources(ctx)
	if err != nil {
		return err
	}
	e.table, e.gone = slices.Clone(table), make([]bool, len(table))
	for i, id := range table {
		if e.gone[i] = pages[id] || e.Page(id); e.gone[i] {
			e.table[i] = layout.Identity{}
		}
	}
	var targets []block
	for _, b := range r.directory.links {
		if e.overlaps(b) {
			targets = append(targets, b)
		}
	}
	for b, err := range r.blocks(ctx, "links", targets) {
		if err != nil {
			return err
		}
		for found, err := range b.links(targetFields, layout.Range{}) {
			if err != nil {
				return err
			}
			if e.isErased(found.link.Place, found.link.Target) {
				e.selected[b.offset] = true
			}
		}
	}
	return nil
}

// write returns the new book. The old one must be in memory.
func (e *eraser) write(ctx context.Context, old *Reader) ([]byte, error) {
	w := newWriter(old.directory.version)
	w.file = slices.Grow(w.file, int(old.directory.size))
	for b, err := range old.blocks(ctx, "outcomes", old.directory.outcomes) {
		if err != nil {
			return nil, err
		}
		if !e.selected[b.offset] {
			w.copy(&w.outcomeBlocks, b)
		} else if err := e.writeOutcomes(w, b); err != nil {
			return nil, err
		}
	}
	leaves := slices.Contains(e.gone, true)
	for b, err := range old.blocks(ctx, "links", old.directory.links) {
		changes := e.selected[b.offset]
		if err == nil && !changes && leaves {
			changes, err = b.names(e.gone)
		}
		if err != nil {
			return nil, err
		}
		if !changes {
			w.copy(&w.linkBlocks, b)
		} else if err := e.writeLinks(w, b); err != nil {
			return nil, err
		}
	}
	if len(w.linkBlocks.closed) == 0 && w.linkBlocks.open.count == 0 {
		e.table = nil // so that all books without any content are the same
	}
	return w.finish(e.table), nil
}

// writeOutcomes writes the outcomes of a block that are not left out.
func (e *eraser) writeOutcomes(w *writer, b openBlock) error {
	for o, err := range b.outcomes(layout.Range{}) {
		if err != nil {
			return err
		}
		erased, empties := e.isErased(o.Place, o.URL), e.Detail(o.Detail)
		if erased || empties {
			e.sites[o.Place.Site()] = true
		}
		if empties {
			o.Detail = ""
		}
		if !erased {
			w.outcome(o)
		}
	}
	return nil
}

// writeLinks writes the links of a block that are not left out.
func (e *eraser) writeLinks(w *writer, b openBlock) error {
	for found, err := range b.links(allFields, layout.Range{}) {
		if err != nil {
			return err
		}
		left := row{Link: found.link}
		if !e.isErased(found.link.Place, found.link.Target) {
			left.sources = slices.DeleteFunc(slices.Clone(found.sources), func(number uint32) bool { return e.gone[number] })
		}
		if len(left.sources) < len(found.sources) {
			e.sites[found.link.Place.Site()] = true
		}
		w.link(left)
	}
	return nil
}

// isErased reports whether a URL with this place is erased.
func (e *eraser) isErased(at layout.Place, url string) bool { return e.isWithin(at) && e.URL(url, at) }

func (e *eraser) isWithin(at layout.Place) bool {
	_, within := slices.BinarySearchFunc(e.Within, at, func(r layout.Range, at layout.Place) int {
		if r.Contains(at) {
			return 0
		}
		return cmp.Compare(r.From, at)
	})
	return within
}

// overlaps reports whether a block may have rows of erased URLs.
func (e *eraser) overlaps(b block) bool {
	return slices.ContainsFunc(e.Within, layout.Range{From: b.first, To: b.last + 1}.Overlaps)
}
