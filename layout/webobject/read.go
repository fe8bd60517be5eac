package webobject

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// maxRun is the most that a run has: what cannot be compressed is stored in
// blocks, which adds less than 1/256.
const maxRun = MaxSize + MaxSize/256

// Read reads one Web object from the storage package with the key, by one
// ranged GET, and compares its data with its hash. The caller compares the URL
// with what it expected at the place. Errors about the bytes wrap ErrDamaged,
// also if the package ends before the place; errors of the store are wrapped.
func Read(ctx context.Context, r blob.Reader, key string, p Place) (Object, error) {
	o, err := read(ctx, r, key, p)
	if err != nil {
		return Object{}, fmt.Errorf("cannot read Web object of %d bytes at byte %d of %s: %w", p.Length, p.Offset, key, err)
	}
	return o, nil
}

func read(ctx context.Context, r blob.Reader, key string, p Place) (Object, error) {
	if p.Offset < 0 || p.Length <= 0 || p.Length > maxRun {
		return Object{}, fmt.Errorf("no place: want an offset from 0 and a length from 1 to %d", maxRun)
	}
	run, err := get(ctx, r, key, blob.Range{Offset: p.Offset, Length: p.Length})
	if err != nil {
		return Object{}, err
	}
	if int64(len(run)) != p.Length {
		return Object{}, fmt.Errorf("%w: the store returned %d bytes", ErrDamaged, len(run))
	}
	raw, err := newInflater().inflate(run, MaxSize)
	if err != nil {
		return Object{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	o, err := decodeWhole(raw)
	if err != nil {
		return Object{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return o, nil
}

// get reads bytes that a package has if it is whole.
func get(ctx context.Context, r blob.Reader, key string, at blob.Range) ([]byte, error) {
	b, err := r.Get(ctx, key, at)
	if errors.Is(err, blob.ErrRange) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return b, err
}
