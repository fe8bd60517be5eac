package partition

import (
	"context"
	"iter"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// parallel is the greatest number of books or overlays that are read or stored at the same time.
const parallel = 8

// Books are the opened books of one generation of a partition. A book is an object with the
// outcomes of URLs. If a book is damaged or missing, Books records the error, and reads only the
// others. If these have no outcome of a URL, the damaged book may have one. So what the caller may
// do depends on its task:
//
//	the caller                            then                          example
//	answers a question about some URLs    answers from the other books  show a page, explain a URL
//	                                      and reports Damaged
//	acts on the absence of URLs           fails with a Fault            erase, condemn, rebuild, merge
//	from all books
//
// It is safe for concurrent use.
type Books struct {
	listed  []manifest.Book
	readers []*book.Reader // a reader for each listed book; nil if the book could not be opened

	mu      sync.Mutex // guards the field damaged
	damaged []error    // for each listed book, the reason why it cannot be read; nil if no damage is known
}

// OpenBooks opens the books with the given entries in a manifest, with one request for each book.
// If a book is damaged or missing, OpenBooks records this for the method Damaged, and returns no
// error. It returns an error only if the store fails.
func OpenBooks(ctx context.Context, bucket blob.Reader, listed []manifest.Book) (*Books, error) {
	b := &Books{listed: listed, readers: make([]*book.Reader, len(listed)), damaged: make([]error, len(listed))}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range listed {
		group.Go(func() (err error) {
			b.readers[i], err = book.Open(within, bucket, listed[i].Key)
			return b.fault(i, err)
		})
	}
	return b, group.Wait()
}

// fault handles an error of the i-th book. If err says that the book is damaged or missing, fault
// records err for the method Damaged, and returns nil. It returns any other error unchanged.
func (b *Books) fault(i int, err error) error {
	if !isBookFault(err) {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.damaged[i] = err
	return nil
}

// Damaged returns one error for each book that was found damaged or missing so far. The text of the
// error names the key of the book.
func (b *Books) Damaged() (damaged []error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, err := range b.damaged {
		if err != nil {
			damaged = append(damaged, err)
		}
	}
	return damaged
}

// Err returns a Fault if any book is known to be damaged or missing.
func (b *Books) Err() error { return BooksFault(b.Damaged()...) }

// Each calls the function read for each book that could be opened, for up to 8 books at
// the same time. The argument i is the book's index in the list. If the function
// returns an error that says that the book is damaged or missing, Each records the
// error for the method Damaged, and goes on with the other books. In this case the
// function must discard what it has read from that book.
func (b *Books) Each(ctx context.Context, read func(ctx context.Context, i int, r *book.Reader) error) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, r := range b.readers {
		if r == nil {
			continue
		}
		group.Go(func() error { return b.fault(i, read(within, i, r)) })
	}
	return group.Wait()
}

// Find returns all outcomes of one URL, in no particular order, from the books that are
// not damaged.
func (b *Books) Find(ctx context.Context, place layout.Place, id layout.Identity) ([]book.Outcome, error) {
	found := make([][]book.Outcome, len(b.readers))
	err := b.Each(ctx, func(ctx context.Context, i int, r *book.Reader) (err error) {
		found[i], err = r.Find(ctx, place, id)
		return err
	})
	var all []book.Outcome
	for _, outcomes := range found {
		all = append(all, outcomes...)
	}
	return all, err
}

// Readers returns a reader for each book; it is nil if the book could not be opened. The error is
// that of Err: a Fault if any book is known to be damaged or missing.
func (b *Books) Readers() ([]*book.Reader, error) { return b.readers, b.Err() }

// Standings yields the outcomes that determine the state of every URL, as book.Standings does. If a
// book is damaged or missing, the sequence ends with a Fault.
func (b *Books) Standings(ctx context.Context) iter.Seq2[book.Standing, error] {
	return func(yield func(book.Standing, error) bool) {
		if err := b.Err(); err != nil {
			yield(book.Standing{}, err)
			return
		}
		for s, err := range book.Standings(ctx, b.readers) {
			if isBookFault(err) {
				err = BooksFault(err)
			}
			if !yield(s, err) {
				return
			}
		}
	}
}
