package sweep

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// maxMerge is how many times Limits.Books are merged at once, after a halt.
const maxMerge = 8

// compact merges books of about one size into a checkpoint, at most once a
// run, so that a rebuild reads few books and what was superseded is read by
// nobody. A book is rewritten once for every factor of eight that it grows, up
// to half of the largest size.
func (p *partition) compact(ctx context.Context) error {
	books := p.Limits.mergeable(p.manifest.Books)
	if len(books) == 0 {
		return nil
	}
	opened, err := p.openBooks(ctx, books)
	if err != nil {
		return err
	}
	key, err := p.rewrite(ctx, books, opened, book.Filter{})
	if err == nil {
		p.Log.InfoContext(ctx, "merged books", "partition", p.id, "generation", p.manifest.Generation, "books", len(books), "into", key)
	}
	return err
}

// mergeable returns the books to be merged next: the smallest size first, and
// of it the smallest books; nil when there are too few of all.
func (l Limits) mergeable(books []manifest.Book) []manifest.Book {
	sizes := make(map[int][]manifest.Book)
	for _, b := range books {
		if b.Bytes <= l.BookBytes/2 {
			sizes[sizeOf(b)] = append(sizes[sizeOf(b)], b)
		}
	}
	smallest := -1
	for size, of := range sizes {
		if len(of) >= l.Books && (smallest < 0 || size < smallest) {
			smallest = size
		}
	}
	of := sizes[smallest]
	slices.SortStableFunc(of, func(a, b manifest.Book) int { return cmp.Compare(a.Bytes, b.Bytes) })
	var bytes int64
	for i, b := range of {
		if bytes += b.Bytes; bytes > l.BookBytes || i == maxMerge*l.Books {
			return of[:i]
		}
	}
	return of
}

// sizeOf returns the size of a book as a power of eight.
func sizeOf(b manifest.Book) int { return bits.Len64(uint64(b.Bytes)) / 3 }
