// Package compact merges the books of a storage partition. A book records what became of URLs.
// After a merge, a rebuild of the frontier has fewer books to read, and no outcomes that have been
// superseded by later ones.
package compact

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/bits"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// maxMerge limits how many books one merge reads: at most maxMerge times Limits.Books. A size class
// may have more books than Limits.Books if the sweep did not run for a while.
const maxMerge = 8

// Limits say which books are merged.
type Limits struct {
	Books int   // a size class (see sizeOf) is merged when it has at least this many books
	Bytes int64 // greatest size in bytes of a book that a merge makes
}

// DefaultLimits returns limits by which eight or more books of a size class are merged, into a book of
// at most 64 MiB.
func DefaultLimits() Limits { return Limits{Books: 8, Bytes: 64 << 20} }

// Run merges the smallest books into one, and commits the new book in their place. It takes them
// from the smallest size class that has at least Limits.Books books. With the default limits, the
// new book is about eight times as large as each old one. Books larger than half of Limits.Bytes
// are not merged any more. If one of the books is damaged, Run merges nothing and returns the
// error: repair has to mend the book. Since nothing new is learnt, the URLs need not be counted again (see
// census.Rename).
func Run(ctx context.Context, bucket blob.Bucket, p *partition.Partition, l Limits, log *slog.Logger) error {
	books := l.mergeable(p.Manifest().Books)
	if len(books) == 0 {
		return nil
	}
	content, outcomes, links, err := merge(ctx, bucket, books)
	if err != nil {
		return err
	}
	key, err := Replace(ctx, p, books, content, outcomes, links)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "merged books", "partition", p.ID(), "generation", p.Manifest().Generation, "books", len(books), "into", key)
	return census.Rename(ctx, bucket, census.Merged{Books: keysOf(books), Into: key})
}

func keysOf(books []manifest.Book) (keys []string) {
	for _, b := range books {
		keys = append(keys, b.Key)
	}
	return keys
}

// merge returns a book with the content of the listed ones, and its numbers of outcomes and links.
func merge(ctx context.Context, bucket blob.Reader, listed []manifest.Book) (content []byte, outcomes, links int, err error) {
	books, err := partition.OpenBooks(ctx, bucket, listed)
	if err != nil {
		return nil, 0, 0, err
	}
	readers, err := books.Readers()
	if err != nil {
		return nil, 0, 0, err
	}
	return book.Merge(ctx, readers)
}

// Replace puts a book with the given content, and these numbers of outcomes and links, commits it in
// place of old books, and returns its key. It must have nothing that the old books do not have: the
// manifest's field Learnt does not change, and no frontier is rebuilt. If an old book is no longer listed,
// Replace commits nothing and returns no error: the next run works with the books that are listed then.
func Replace(ctx context.Context, p *partition.Partition, old []manifest.Book, content []byte, outcomes, links int) (key string, err error) {
	merged, err := p.PutBook(ctx, content, outcomes, links)
	if err != nil {
		return "", err
	}
	keys := keysOf(old)
	err = p.Commit(ctx, func(e *partition.Edit) error {
		if len(keys) == 1 && keys[0] == merged.Key {
			return partition.ErrUnchanged
		}
		return e.ReplaceBooks(keys, merged)
	})
	if errors.Is(err, partition.ErrStale) { // an old book is no longer listed
		err = nil
	}
	return merged.Key, err
}

// mergeable returns the books to be merged next; nil if there are none. It chooses the smallest
// size class (see sizeOf) that has at least l.Books books. Of this class it returns the smallest
// books, at most maxMerge*l.Books of them, and with at most l.Bytes bytes together.
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

// sizeOf returns the size class of a book. Sizes in one class differ by less than a factor
// of eight: class 5 are the books of 16,384 to 131,071 bytes.
func sizeOf(b manifest.Book) int { return bits.Len64(uint64(b.Bytes)) / 3 }
