package book

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Filter selects the content of a merged book. Each of its functions returns true for an
// outcome or link that Merge keeps; a nil function keeps all. A function may also change text
// fields, but no URL and no place. Merge may call a function several times for the same outcome
// or link; the function must then do the same each time.
type Filter struct {
	Outcome func(*Outcome) bool
	Link    func(*Link) bool
}

// Merge returns one book with the content of several, and the numbers of outcomes and links in
// it. Of each URL it keeps the outcomes that count (see Standing), and of equal links one. The
// result does not depend on the order of the books, or on whether some of them were merged
// before.
//
// A link becomes Former if its source was fetched again later and did not have the link any
// more: other books have the latest outcome of the source, and none of these has the link. The
// format version of the new book is the highest of the given books, but at least 4 if a link is
// Former.
//
// The filter is applied first: an outcome that it drops supersedes no other outcome.
//
// In memory are the new book, a second copy of its links, the identities and URLs of their
// sources, all rows of one target, and for each given book the bytes of one request and one
// block.
func Merge(ctx context.Context, books []*Reader, f Filter) (content []byte, outcomes, links int, err error) {
	content, outcomes, links, err = merge(ctx, books, f)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("cannot merge books: %w", err)
	}
	return content, outcomes, links, nil
}

func merge(ctx context.Context, books []*Reader, f Filter) (content []byte, outcomes, links int, err error) {
	urls, err := sourcesOf(ctx, books, f)
	if err != nil {
		return nil, 0, 0, err
	}
	v := version1
	for _, b := range books {
		v = max(v, b.directory.version)
	}
	now := make(currentBooks)
	for s, err := range standings(ctx, books, f) {
		if err != nil {
			return nil, 0, 0, err
		}
		for _, o := range s.outcomes() {
			urls.outcome(o)
		}
		now.add(s, urls)
	}
	table := urls.table()
	ofLinks, links, err := mergeLinks(ctx, v, books, f, table, now)
	if errors.Is(err, errFormer) {
		ofLinks, links, err = mergeLinks(ctx, version4, books, f, table, now)
	}
	if err != nil {
		return nil, 0, 0, err
	}
	w := newWriter(ofLinks.version)
	for s, err := range standings(ctx, books, f) {
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

// currentBooks maps the identity of a page with links to the books that have the links
// of the page's latest version, as indexes into the list of merged books (see
// Standing.Books). A page without such books is not in the map.
type currentBooks map[layout.Identity][]int

// add stores in c, under the identity of a URL, the books with the links that its page has now
// (s.Books). It does nothing if the identity is not in urls: then no book has links from the page.
func (c currentBooks) add(s Standing, urls sourceURLs) {
	if len(s.Books) == 0 {
		return
	}
	id := highest(s.Page, s.gone).Identity()
	if _, isSource := urls[id]; isSource {
		c[id] = slices.Clone(s.Books)
	}
}

// former reports whether the links of a page in one book are marked as Former (see Link) by the
// merge, because the links of the page's latest version are in other books. The parameter source is
// the identity of the page, and index is the index of the book in the list of merged books. The
// result is true if c has books for the page, but this book is not one of them.
func (c currentBooks) former(source layout.Identity, index int) bool {
	in, known := c[source]
	return known && !slices.Contains(in, index)
}

// sourcesOf returns the identities of the sources of all links that the filter keeps. Their URLs in
// the result are "".
func sourcesOf(ctx context.Context, books []*Reader, f Filter) (sourceURLs, error) {
	urls := make(sourceURLs)
	for _, b := range books {
		table, err := b.Sources(ctx)
		if err != nil {
			return nil, err
		}
		if f.Link == nil {
			for _, id := range table {
				urls[id] = ""
			}
			continue
		}
		var l Link
		for r, err := range b.rows(ctx, allFields, layout.Range{}) {
			if err != nil {
				return nil, err
			}
			for _, number := range r.sources {
				id := table[number]
				if _, known := urls[id]; known {
					continue
				}
				if l, l.Source = r.link, id; f.Link(&l) {
					urls[id] = ""
				}
			}
		}
	}
	return urls, nil
}

// filterOutcomes yields the outcomes that the filter keeps, as changed by the filter. It yields an
// error if the filter changes a URL or makes another field invalid.
func filterOutcomes(all iter.Seq2[Outcome, error], f Filter) iter.Seq2[Outcome, error] {
	if f.Outcome == nil {
		return all
	}
	return func(yield func(Outcome, error) bool) {
		for o, err := range all {
			url := o.URL
			if err == nil && !f.Outcome(&o) {
				continue
			}
			if err == nil && o.URL != url {
				err = fmt.Errorf("the filter has changed URL %s to %s", url, o.URL)
			}
			if err == nil {
				err = checkOutcome(o)
			}
			if !yield(o, err) {
				return
			}
		}
	}
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
