package book

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Merge returns one book with the content of several, and the numbers of outcomes and links in it.
// Of each URL it keeps the outcomes that determine its state, now or when further books are merged
// (see Standing). Of several equal links it keeps one. The result does not depend on the order of
// the books, or on whether some of them were merged before.
//
// A link becomes Former if its source, the page that contained it, was fetched again later and did
// not have it any more. This is so if the books with the source's latest outcome do not have the
// link. The format version of the new book is the highest of the given books, but at least 4 if a
// link is Former.
//
// Memory holds the new book, a second copy of its links, the identities and URLs of their sources,
// and all rows of one target. In addition, it holds the bytes of one request and one block for each
// given book.
func Merge(ctx context.Context, books []*Reader) (content []byte, outcomes, links int, err error) {
	content, outcomes, links, err = merge(ctx, books)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("cannot merge books: %w", err)
	}
	return content, outcomes, links, nil
}

func merge(ctx context.Context, books []*Reader) (content []byte, outcomes, links int, err error) {
	urls, err := sourcesOf(ctx, books)
	if err != nil {
		return nil, 0, 0, err
	}
	v := version1
	for _, b := range books {
		v = max(v, b.directory.version)
	}
	now := make(currentBooks)
	for s, err := range Standings(ctx, books) {
		if err != nil {
			return nil, 0, 0, err
		}
		for _, o := range s.outcomes() {
			urls.outcome(o)
		}
		now.add(s, urls)
	}
	table := urls.table()
	ofLinks, links, err := mergeLinks(ctx, v, books, table, now)
	if errors.Is(err, errFormer) {
		ofLinks, links, err = mergeLinks(ctx, version4, books, table, now)
	}
	if err != nil {
		return nil, 0, 0, err
	}
	w := newWriter(ofLinks.version)
	for s, err := range Standings(ctx, books) {
		if err != nil {
			return nil, 0, 0, err
		}
		for _, o := range s.outcomes() {
			w.outcome(o)
			outcomes++
		}
	}
	w.append(ofLinks)
	return w.finish(table), outcomes, links, nil
}

// currentBooks holds, under the identity of each page with links, the books that have
// the links of the page's latest version (see Standing.Books). The books are given as
// indexes into the list of merged books. A page without such books is not in the map.
type currentBooks map[layout.Identity][]int

// add puts s.Books, the list of the books with the present links of a page, into the map c. The key
// is the identity of the page (a hash of its URL). The parameter urls has an entry for every page
// with links in any book; add ignores other pages.
func (c currentBooks) add(s Standing, urls sourceURLs) {
	if len(s.Books) == 0 {
		return
	}
	id := highest(s.Page, s.gone).Identity()
	if _, isSource := urls[id]; isSource {
		c[id] = slices.Clone(s.Books)
	}
}

// former reports whether the links of a page in one book are old: the page does not have them any
// more, unless another book has them, too (see Link.Former). The parameters are the identity of the
// page, and the index of the book in the list of merged books. The links are old if the map lists
// books with the links of the page's latest version, and this book is not among them.
func (c currentBooks) former(source layout.Identity, index int) bool {
	in, known := c[source]
	return known && !slices.Contains(in, index)
}

// sourcesOf returns a map with the identities of the sources of all links. It maps each to "", because the
// URLs are not known yet.
func sourcesOf(ctx context.Context, books []*Reader) (sourceURLs, error) {
	urls := make(sourceURLs)
	for _, b := range books {
		table, err := b.Sources(ctx)
		if err != nil {
			return nil, err
		}
		for _, id := range table {
			urls[id] = ""
		}
	}
	return urls, nil
}

// cursor is a position in a sequence that mergeGroups merges: the row at this
// position, and the function that returns the rows after it.
type cursor[T any] struct {
	row  T
	next func() (T, error, bool)
}

// mergeGroups merges sequences, each of which is sorted by the function compare, and yields their
// rows in groups: the rows of a group are those for which compare returns 0. A group is valid until
// the next is yielded. An error ends the sequence.
func mergeGroups[T any](sequences []iter.Seq2[T, error], compare func(T, T) int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var cursors []*cursor[T] // sorted by their rows
		sift := func(at int) {   // moves a cursor back until the cursors are sorted
			for ; at+1 < len(cursors) && compare(cursors[at].row, cursors[at+1].row) > 0; at++ {
				cursors[at], cursors[at+1] = cursors[at+1], cursors[at]
			}
		}
		for _, rows := range sequences {
			next, stop := iter.Pull2(rows)
			defer stop()
			found, err, more := next()
			if err != nil {
				yield(nil, err)
				return
			}
			if more {
				cursors = append([]*cursor[T]{{found, next}}, cursors...)
				sift(0)
			}
		}
		var group []T
		for len(cursors) > 0 {
			first := cursors[0]
			if len(group) > 0 && compare(group[0], first.row) != 0 {
				if !yield(group, nil) {
					return
				}
				group = group[:0]
			}
			group = append(group, first.row)
			found, err, more := first.next()
			switch {
			case err != nil:
				yield(nil, err)
				return
			case more:
				first.row = found
				sift(0)
			default:
				cursors = cursors[1:]
			}
		}
		if len(group) > 0 {
			yield(group, nil)
		}
	}
}
