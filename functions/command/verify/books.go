package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// partBytes is how finely books are cut, and rangeBytes how much of all books
// makes a range of URLs: some ten thousand of them.
const (
	partBytes  = 16 << 10
	rangeBytes = 2 << 20
)

// openBook is a book of which ranges are read.
type openBook struct {
	manifest.Book
	partition layout.Partition
	reader    *book.Reader
	lost      atomic.Bool // it cannot be read
}

// readBooks reads every book whole and compares it with its name, which is its
// hash, and cuts the hash space into ranges.
func (v *run) readBooks(ctx context.Context) error {
	var all []*openBook
	var size int64
	for _, p := range v.partitions {
		for _, listed := range p.Books {
			b := &openBook{Book: listed, partition: p.Partition}
			p.books, all = append(p.books, b), append(all, b)
			size += listed.Bytes
		}
	}
	v.report.Books = len(all)
	progress := v.stage(Books, size)
	err := each(ctx, all, func(ctx context.Context, b *openBook) error {
		defer progress.add(b.Bytes)
		return v.lose(b, v.readBook(ctx, b))
	})
	var parts []book.Part
	for _, b := range all {
		if b.reader != nil {
			parts = append(parts, b.reader.Parts(partBytes)...)
		}
	}
	v.ranges = divide(parts)
	return err
}

func (v *run) readBook(ctx context.Context, b *openBook) error {
	content, err := v.Bucket.Get(ctx, b.Key, blob.Range{})
	if err != nil {
		return err
	}
	if key := layout.BookKey(b.partition, layout.ContentHash(content)); key != b.Key {
		return fmt.Errorf("%w: its content is that of %s", book.ErrDamaged, key)
	}
	if b.reader, err = book.Open(ctx, v.Bucket, b.Key); err != nil {
		return err
	}
	forgotten := v.forgotten(v.partition(b.partition))
	if forgotten.set == nil {
		return nil
	}
	sources, err := b.reader.Sources(ctx)
	if i := slices.IndexFunc(sources, forgotten.id); i >= 0 {
		v.problem(Behind, b.partition, b.Key, "holds links of the page %s, which is forgotten", sources[i])
	}
	return err
}

// lose tells once that a book cannot be read. It returns the error if that is
// the fault of the store.
func (v *run) lose(b *openBook, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, blob.ErrAbsent): // told when it was looked for
		b.lost.Store(true)
		return nil
	case errors.Is(err, book.ErrDamaged):
		if !b.lost.Swap(true) {
			v.problem(Damaged, b.partition, b.Key, "is damaged: %v", err)
		}
		return nil
	}
	return err
}

// divide makes ranges of the parts of all books, which hold about the same.
func divide(parts []book.Part) []layout.Range {
	slices.SortFunc(parts, func(a, b book.Part) int { return cmp.Compare(a.From, b.From) })
	ranges := make([]layout.Range, 1)
	var bytes int64
	for _, p := range parts {
		last := &ranges[len(ranges)-1]
		if bytes >= rangeBytes && p.From > last.From {
			last.To, bytes = p.From, 0
			ranges = append(ranges, layout.Range{From: p.From})
		}
		bytes += p.Bytes
	}
	return ranges
}

func (v *run) partition(p layout.Partition) *audit {
	return v.partitions[slices.IndexFunc(v.partitions, func(own *audit) bool { return own.Partition == p })]
}
