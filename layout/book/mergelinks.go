package book

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// errFormer says that a merged book has Former links, which need version 4, but is being
// written in a lower version.
var errFormer = errors.New("the version is too low for former links")

// mergeLinks merges the links of the books. It returns a writer that holds the merged links in
// version v of the format, and the number of these links. The parameter table is the merged book's
// table of sources. The last parameter says, for each page, which books have its present links. A
// link that the page has only in other books is marked as Former (see Link). mergeLinks fails with
// errFormer if there is such a link, and v is below 4.
func mergeLinks(ctx context.Context, v version, books []*Reader, table []layout.Identity, now currentBooks) (w *writer, links int, err error) {
	w = newWriter(v)
	for ofTarget, err := range mergeRows(ctx, books, table, now) {
		if err != nil {
			return nil, 0, err
		}
		for _, r := range unite(ofTarget) {
			if r.Former && v < version4 {
				return nil, 0, errFormer
			}
			w.link(r)
			links += len(r.sources)
		}
	}
	return w, links, nil
}

// mergeRows yields the links of all books, as rows. All rows with the same
// target come together, as one group. A row names its sources by indexes in the merged book's table
// of sources (the parameter table). The last parameter says, for each page, which books have its
// present links. The page's links from other books are marked as Former (see Link).
func mergeRows(ctx context.Context, books []*Reader, table []layout.Identity, now currentBooks) iter.Seq2[[]row, error] {
	numbers := make(map[layout.Identity]uint32, len(table))
	for i, id := range table {
		numbers[id] = uint32(i)
	}
	var sequences []iter.Seq2[row, error]
	for i, b := range books {
		sequences = append(sequences, renumberRows(ctx, b, numbers, func(source layout.Identity) bool { return now.former(source, i) }))
	}
	return mergeGroups(sequences, func(r, s row) int { return compareURL(r.Place, r.Target, s.Place, s.Target) })
}

// renumberRows yields the links of the book b, as rows for the merged book. A link is marked as Former if
// isFormer returns true for its source (the page that contains it). A row names its sources by indexes in
// the book's table of sources, which each book has for itself. So renumberRows replaces these indexes by
// those in the merged book's table. The parameter numbers maps the identity of each source to its new index.
func renumberRows(ctx context.Context, b *Reader, numbers map[layout.Identity]uint32, isFormer func(layout.Identity) bool) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		table, err := b.Sources(ctx)
		if err != nil {
			yield(row{}, err)
			return
		}
		renumbered, former := make([]uint32, len(table)), make([]bool, len(table))
		for i, id := range table {
			renumbered[i], former[i] = numbers[id], isFormer(id)
		}
		for r, err := range b.rows(ctx, allFields, layout.Range{}) {
			if err != nil {
				yield(row{}, err)
				return
			}
			present, past := row{Link: r.link}, row{Link: r.link} // past: of sources that do not have the link any more
			past.Former = true
			for _, number := range r.sources {
				if r.link.Former || former[number] {
					past.sources = append(past.sources, renumbered[number])
				} else {
					present.sources = append(present.sources, renumbered[number])
				}
			}
			for _, part := range []row{present, past} {
				if len(part.sources) > 0 && !yield(part, nil) {
					return
				}
			}
		}
	}
}

// unite takes all rows of links to one URL, in any order, and returns them in the form that they
// have in a book. They are sorted by compareLinks, and links that differ only in their sources (the
// pages that contain them) are in one row. A page may have the same link twice: as a present link
// in the rows of one book, and as a Former link in those of another. Then unite drops the Former
// link.
func unite(rows []row) (united []row) {
	var present row // the last row that is not Former, with all its sources
	for _, r := range joinAlike(rows) {
		r.sources = slices.Compact(r.sources)
		if l := r.Link; !l.Former {
			present = r
		} else if l.Former = false; l == present.Link {
			r.sources = slices.DeleteFunc(r.sources, func(number uint32) bool {
				_, found := slices.BinarySearch(present.sources, number)
				return found
			})
		}
		if len(r.sources) > 0 {
			united = append(united, r)
		}
	}
	return united
}
