// Package compact writes books of a storage partition as one, so that a rebuild
// reads few books and what was superseded is read by nobody.
package compact

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/bits"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// maxMerge is how many times Limits.Books are merged at once, after a halt.
const maxMerge = 8

// Limits say which books are merged.
type Limits struct {
	Books int   // of one size that are merged
	Bytes int64 // of the largest book that a merge makes
}

// DefaultLimits merge eight books of a size, up to 64 MiB.
func DefaultLimits() Limits { return Limits{Books: 8, Bytes: 64 << 20} }

// Run merges books of about one size into a checkpoint, once. A book is
// rewritten once for every factor of eight that it grows, up to half of the
// largest size. A damaged book is an error: repair sees to it.
func Run(ctx context.Context, bucket blob.Reader, p *partition.Partition, l Limits, log *slog.Logger) error {
	books := l.mergeable(p.Manifest().Books)
	if len(books) == 0 {
		return nil
	}
	key, err := Rewrite(ctx, bucket, p, books, book.Filter{})
	if err == nil {
		log.InfoContext(ctx, "merged books", "partition", p.ID(), "generation", p.Manifest().Generation, "books", len(books), "into", key)
	}
	return err
}

// Rewrite lists one book in place of others, which says the same or what a
// filter leaves of it, and returns its key. What the partition has learnt stays
// the same, so that no frontier is behind because of it. It changes nothing when
// the others are not listed any more.
func Rewrite(ctx context.Context, bucket blob.Reader, p *partition.Partition, old []manifest.Book, filter book.Filter) (key string, err error) {
	books, err := partition.OpenBooks(ctx, bucket, old)
	if err != nil {
		return "", err
	}
	readers, err := books.Readers()
	if err != nil {
		return "", err
	}
	content, outcomes, links, err := book.Merge(ctx, readers, filter)
	if err != nil {
		return "", err
	}
	merged, err := p.PutBook(ctx, content, outcomes, links)
	if err != nil {
		return "", err
	}
	var keys []string
	for _, b := range old {
		keys = append(keys, b.Key)
	}
	err = p.Commit(ctx, func(e *partition.Edit) error {
		if len(keys) == 1 && keys[0] == merged.Key {
			return partition.ErrUnchanged
		}
		return e.ReplaceBooks(keys, merged)
	})
	if errors.Is(err, partition.ErrStale) { // the next run does it
		err = nil
	}
	return merged.Key, err
}

// mergeable returns the books to be merged next: the smallest size first, and
// of it the smallest books; nil when there are too few of all.
func (l Limits) mergeable(books []manifest.Book) []manifest.Book {
	sizes := make(map[int][]manifest.Book)
	for _, b := range books {
		if b.Bytes <= l.Bytes/2 {
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
		if bytes += b.Bytes; bytes > l.Bytes || i == maxMerge*l.Books {
			return of[:i]
		}
	}
	return of
}

// sizeOf returns the size of a book as a power of eight.
func sizeOf(b manifest.Book) int { return bits.Len64(uint64(b.Bytes)) / 3 }
