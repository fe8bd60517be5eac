package remains

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// told is a readable book, with the batches and packages that it names.
type told struct {
	manifest.Book
	listed  bool                    // by newest
	batches map[layout.Version]bool // also what repair took back
	pages   map[string][]place      // by the keys of packages
	whole   bool                    // all packages that it names are there
}

// place is the place of a page in a package.
type place struct {
	id             layout.Identity
	offset, length int64
}

func (r *remains) readBooks(ctx context.Context) error {
	listed := make(map[string]bool)
	for _, b := range r.newest.Books {
		listed[b.Key] = true
	}
	for object, err := range r.bucket.List(ctx, layout.Books+r.newest.Partition.String()+"/", "") {
		if err != nil {
			return err
		}
		if r.newest.IsCondemned(object.Key) || !strings.HasSuffix(object.Key, ".book") {
			continue
		}
		b, err := r.readBook(ctx, object.Key)
		if errors.Is(err, book.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
			continue // it tells nothing; if it is listed, repair takes it off
		}
		if err != nil {
			return err
		}
		b.listed = listed[object.Key]
		r.books = append(r.books, b)
	}
	return nil
}

func (r *remains) readBook(ctx context.Context, key string) (*told, error) {
	content, err := r.bucket.Get(ctx, key, blob.Range{})
	if err != nil {
		return nil, err
	}
	if layout.BookKey(r.newest.Partition, layout.ContentHash(content)) != key {
		return nil, book.ErrDamaged
	}
	opened, err := book.Open(ctx, r.bucket, key)
	if err != nil {
		return nil, err
	}
	b := &told{Book: manifest.Book{Key: key, Bytes: int64(len(content))}, batches: make(map[layout.Version]bool), pages: make(map[string][]place)}
	b.Outcomes, b.Links = opened.Counts()
	for o, err := range opened.Outcomes(ctx, layout.Range{}) {
		if err != nil {
			return nil, err
		}
		b.batches[o.Version] = true
		if o.State == book.Stored {
			b.pages[o.Package] = append(b.pages[o.Package], place{o.Identity(), o.Offset, o.Length})
		}
	}
	b.whole = true
	for key, pages := range b.pages {
		b.whole = b.whole && r.packages.of(key, pages) != nil
	}
	return b, nil
}

// listBooks lists the books with batches that no other listed book has, and those
// with links only.
func (r *remains) listBooks(m *manifest.Manifest) {
	r.batches = make(map[layout.Version]bool)
	slices.SortStableFunc(r.books, func(a, b *told) int {
		return cmp.Or(before(a.listed, b.listed), before(a.whole, b.whole), cmp.Compare(len(b.batches), len(a.batches)), cmp.Compare(b.Outcomes, a.Outcomes))
	})
	r.books = slices.DeleteFunc(r.books, func(b *told) bool {
		known := len(b.batches) > 0
		for batch := range b.batches {
			known = known && r.batches[batch]
			r.batches[batch] = true
		}
		if !known && !b.listed {
			m.Books = append(m.Books, b.Book)
		}
		return known && !b.listed
	})
}

// before orders true before false.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
