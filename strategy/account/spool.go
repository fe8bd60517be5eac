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
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// errPacked means that a spool object was packed and deleted while the account was being read. Its
// outcomes are in a book now. But the account does not read this book, because it has read the
// manifest before the book was added.
var errPacked = errors.New("a spool object was packed while it was about to be read")

// spoolFate is the result of reading one spool object. If the object waits to be packed, spooled
// describes it, and learnt is a book of its outcomes and links. If the object cannot be read, damaged
// says so. All fields are nil if the batch of the object is packed already, or closed (it must never be
// packed).
type spoolFate struct {
	spooled *Spooled
	learnt  *volume
	damaged *Unreadable
}

// addSpool adds the spool objects of all partitions to the library. It skips objects whose batches
// are packed already, or closed (never to be packed). The lists in the parameter keys are in the
// order of b.Manifests: each list holds the keys of all spool objects of that manifest's partition.
// addSpool fails with errPacked if an object is absent.
func (b *Bucket) addSpool(ctx context.Context, bucket blob.Reader, keys [][]string) error {
	for i := range b.Manifests {
		m := &b.Manifests[i]
		all := make([]spoolFate, len(keys[i]))
		err := inParallel(ctx, requests, len(all), func(ctx context.Context, n int) (err error) {
			all[n], err = b.readSpool(ctx, bucket, m, keys[i][n])
			return err
		})
		if err != nil {
			return err
		}
		for _, f := range all {
			if f.spooled != nil {
				b.Spooled, b.books = append(b.Spooled, *f.spooled), append(b.books, f.learnt)
			}
			if f.damaged != nil {
				b.Damaged = append(b.Damaged, *f.damaged)
			}
		}
	}
	return nil
}

// readSpool reads the spool object with the key, and makes a book of its outcomes and links, in memory:
// it is small there, and can be read by ranges. readSpool skips the object if its batch is packed
// already, or closed (never to be packed). m is the manifest of the object's partition.
func (b *Bucket) readSpool(ctx context.Context, bucket blob.Reader, m *manifest.Manifest, key string) (spoolFate, error) {
	p, batch, err := layout.ParseSpoolKey(key)
	if err != nil {
		return spoolFate{damaged: &Unreadable{m.Partition, key, err}}, nil
	}
	if m.HasConsumed(batch) || m.IsClosed(batch) {
		return spoolFate{}, nil
	}
	ledger, err := spool.ReadLedger(ctx, bucket, key)
	switch {
	case errors.Is(err, blob.ErrAbsent):
		return spoolFate{}, fmt.Errorf("%w: %w", errPacked, err)
	case errors.Is(err, spool.ErrDamaged):
		return spoolFate{damaged: &Unreadable{p, key, err}}, nil
	case err != nil:
		return spoolFate{}, err
	}
	pages, err := membership.ParsePages(ledger.Outcomes)
	if err != nil {
		return spoolFate{}, fmt.Errorf("spool object %s: %w", key, err)
	}
	links, err := b.settings.Assign(ledger.Links, pages, nil) // as pack will assign them
	if err != nil {
		return spoolFate{}, fmt.Errorf("spool object %s: %w", key, err)
	}
	content, err := book.Encode(book.Book{Outcomes: ledger.Outcomes, Links: links})
	if err != nil {
		return spoolFate{damaged: &Unreadable{p, key, err}}, nil
	}
	reader, err := book.Memory(key, content)
	if err != nil {
		return spoolFate{}, err
	}
	return spoolFate{
		spooled: &Spooled{p, batch, ledger.Stored, ledger.Pages},
		learnt:  &volume{Unreadable: Unreadable{Partition: p, Key: key}, reader: reader},
	}, nil
}
