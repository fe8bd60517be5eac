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

// foundBook is a readable book (object with outcomes and links) that is still in the bucket, with
// the batches and packages that its outcomes name.
type foundBook struct {
	manifest.Book
	listed  bool                    // the newest readable manifest lists the book
	batches map[layout.Version]bool // versions (numbers) of the batches and repairs that made the book's outcomes
	// places of the stored pages to which the book's outcomes refer, by the key of their package
	pages map[string][]place
	whole bool // all packages to which the book's outcomes refer exist
}

// place says where in a package a page is.
type place struct {
	id             layout.Identity
	offset, length int64
}

// readBooks sets r.books to all books of the partition that can be read and are not condemned
// (marked for deletion).
func (r *remains) readBooks(ctx context.Context) error {
	listed := make(map[string]bool)
	for _, b := range r.newest.Books {
		listed[b.Key] = true
	}
	for object, err := range r.bucket.List(ctx, layout.Books+r.newest.Partition.String()+"/", "") {
		if err != nil {
			return err
		}
		if r.condemned[object.Key] || !strings.HasSuffix(object.Key, ".book") {
			continue
		}
		b, err := r.readBook(ctx, object.Key)
		if errors.Is(err, book.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
			continue // if it is listed, repair removes it from the manifest
		}
		if err != nil {
			return err
		}
		b.listed = listed[object.Key]
		r.books = append(r.books, b)
	}
	return nil
}

// readBook reads the outcomes of a book. It returns book.ErrDamaged if the key does not have the
// hash of the book's content.
func (r *remains) readBook(ctx context.Context, key string) (*foundBook, error) {
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
	b := &foundBook{Book: manifest.Book{Key: key, Bytes: int64(len(content))}, batches: make(map[layout.Version]bool), pages: make(map[string][]place)}
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

// listBooks decides which books the new manifest m lists. It adds these to m, removes all others from
// r.books, and collects the batches of the listed books in r.batches. It looks at the books in the
// order that the comment of the package gives. A book is listed if
//
//   - the newest readable manifest lists it;
//   - it has no batches, but only links; or
//   - it has a batch that no book listed before it has.
func (r *remains) listBooks(m *manifest.Manifest) {
	r.batches = make(map[layout.Version]bool)
	slices.SortStableFunc(r.books, func(a, b *foundBook) int {
		return cmp.Or(before(a.listed, b.listed), before(a.whole, b.whole), cmp.Compare(len(b.batches), len(a.batches)), cmp.Compare(b.Outcomes, a.Outcomes))
	})
	r.books = slices.DeleteFunc(r.books, func(b *foundBook) bool {
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

// before compares two bools as cmp.Compare does for numbers, with true before false.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
