package spool

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// suffix is how much of a spool ReadLedger asks for: enough for most batches.
const suffix = 128 << 10

// Read reads a whole spool with one request.
func Read(ctx context.Context, r blob.Reader, key string) (Spool, error) {
	content, err := r.Get(ctx, key, blob.Range{})
	if err != nil {
		return Spool{}, fmt.Errorf("cannot read spool %s: %w", key, err)
	}
	s, err := decode(content)
	if err != nil {
		return Spool{}, fmt.Errorf("cannot read spool %s: %w: %w", key, ErrDamaged, err)
	}
	return s, nil
}

// ReadLedger reads what a batch learnt and leaves the bodies of its pages
// where they are. It takes one request, or two when the ledger passes 128 KiB.
func ReadLedger(ctx context.Context, r blob.Reader, key string) (Ledger, error) {
	l, err := readLedger(ctx, r, key)
	if err != nil {
		return Ledger{}, fmt.Errorf("cannot read ledger of spool %s: %w", key, err)
	}
	return l, nil
}

func readLedger(ctx context.Context, r blob.Reader, key string) (Ledger, error) {
	tail, err := r.Get(ctx, key, blob.Range{Offset: -suffix})
	if errors.Is(err, blob.ErrRange) {
		return Ledger{}, fmt.Errorf("%w: it is empty", ErrDamaged)
	}
	if err != nil {
		return Ledger{}, err
	}
	size, err := tailSize(tail)
	if err != nil {
		return Ledger{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if size > len(tail) && len(tail) == suffix {
		if tail, err = r.Get(ctx, key, blob.Range{Offset: -int64(size)}); err != nil {
			return Ledger{}, err
		}
	}
	if size > len(tail) {
		return Ledger{}, fmt.Errorf("%w: footer: tail of %d bytes in %d", ErrDamaged, size, len(tail))
	}
	l, _, err := decodeTail(tail[len(tail)-size:])
	if err != nil {
		return Ledger{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return l, nil
}
