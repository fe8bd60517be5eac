package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Bucket is the account of a whole bucket at one moment.
type Bucket struct {
	*Account
	Manifests []manifest.Manifest // of every storage partition
	Spooled   []Spooled           // what waits to be packed
	Lost      []error             // of each book that is listed and cannot be read
	Damaged   []error             // of each spool object that is not packed and cannot be read
}

// Spooled is a spool object that no generation has consumed.
type Spooled struct {
	Partition layout.Partition
	Batch     layout.Version
	Bytes     int64 // of its Web objects before compression
	Pages     int
}

// Read folds (books, unconsumed spool) of every partition. What is committed
// or spooled while it reads may or may not be in it. It fails when a book is
// lost; a damaged spool object teaches nothing, and its URLs are asked again.
func Read(ctx context.Context, bucket blob.Reader, s *settings.Settings) (*Bucket, error) {
	b, err := Survey(ctx, bucket, s)
	if err != nil {
		return nil, err
	}
	if len(b.Lost) > 0 {
		return nil, errors.Join(b.Lost...)
	}
	return b, nil
}

// Survey is Read for those who look for what is wrong: it goes on without the
// books that are lost.
func Survey(ctx context.Context, bucket blob.Reader, s *settings.Settings) (*Bucket, error) {
	account, err := New(s)
	if err != nil {
		return nil, err
	}
	b := &Bucket{Account: account}
	for _, p := range s.Partitions() {
		// Spool before manifest: a batch that is consumed in between is
		// found in the books.
		keys, err := spooled(ctx, bucket, p)
		if err != nil {
			return nil, err
		}
		m, err := manifest.Read(ctx, bucket, p)
		if err != nil {
			return nil, err
		}
		b.Manifests = append(b.Manifests, m)
		for _, listed := range m.Books {
			err := b.addBook(ctx, bucket, listed.Key)
			if errors.Is(err, blob.ErrAbsent) || errors.Is(err, book.ErrDamaged) {
				b.Lost = append(b.Lost, err)
			} else if err != nil {
				return nil, err
			}
		}
		for _, key := range keys {
			if err := b.addSpool(ctx, bucket, &m, key); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

func spooled(ctx context.Context, bucket blob.Reader, p layout.Partition) ([]string, error) {
	var keys []string
	for object, err := range bucket.List(ctx, layout.SpoolPrefix(p), "") {
		if err != nil {
			return nil, fmt.Errorf("cannot list spool of partition %s: %w", p, err)
		}
		keys = append(keys, object.Key)
	}
	return keys, nil
}

func (b *Bucket) addBook(ctx context.Context, bucket blob.Reader, key string) error {
	content, err := bucket.Get(ctx, key, blob.Range{})
	if err != nil {
		return fmt.Errorf("cannot read book %s: %w", key, err)
	}
	learnt, err := book.Decode(content)
	if err != nil {
		return fmt.Errorf("book %s: %w", key, err)
	}
	b.add(learnt)
	return nil
}

func (b *Bucket) addSpool(ctx context.Context, bucket blob.Reader, m *manifest.Manifest, key string) error {
	p, batch, err := layout.ParseSpoolKey(key)
	if err != nil {
		b.Damaged = append(b.Damaged, err)
		return nil
	}
	if m.HasConsumed(batch) {
		return nil
	}
	ledger, err := spool.ReadLedger(ctx, bucket, key)
	switch {
	case errors.Is(err, blob.ErrAbsent): // consumed and deleted since it was listed
		return nil
	case errors.Is(err, spool.ErrDamaged):
		b.Damaged = append(b.Damaged, err)
		return nil
	case err != nil:
		return err
	}
	b.Spooled = append(b.Spooled, Spooled{p, batch, ledger.Stored, ledger.Pages})
	b.add(book.Book{Outcomes: ledger.Outcomes, Links: ledger.Links})
	return nil
}

func (b *Bucket) add(learnt book.Book) {
	for _, o := range learnt.Outcomes {
		b.Outcome(o)
	}
	for _, l := range learnt.Links {
		b.Link(l)
	}
}
