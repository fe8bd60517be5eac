package webobject

import (
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// suffix is how much of a package List asks for: some 700 pages.
const suffix = 64 << 10

// List returns all Web objects of the storage package with the key, in their
// order, by one GET of the package's end, or a second one if the end is larger
// than 64 KiB. It does not read their runs. Errors about the bytes wrap
// ErrDamaged; errors of the store are wrapped.
func List(ctx context.Context, r blob.Reader, key string) ([]Listed, error) {
	pages, err := listPackage(ctx, r, key)
	if err != nil {
		return nil, fmt.Errorf("cannot list package %s: %w", key, err)
	}
	return pages, nil
}

func listPackage(ctx context.Context, r blob.Reader, key string) ([]Listed, error) {
	end, err := get(ctx, r, key, blob.Range{Offset: -suffix})
	if err != nil {
		return nil, err
	}
	a, err := parseDirectory(end)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	size := a.tailSize()
	if size > maxTail {
		return nil, fmt.Errorf("%w: description and map have %d bytes, at most %d are read", ErrDamaged, size, maxTail)
	}
	if size > suffix && len(end) == suffix {
		if end, err = get(ctx, r, key, blob.Range{Offset: -size}); err != nil {
			return nil, err
		}
	}
	if size > int64(len(end)) || len(end) < suffix && a.size() != int64(len(end)) {
		return nil, fmt.Errorf("%w: the directory is of a package of %d bytes, it has %d", ErrDamaged, a.size(), len(end))
	}
	t, err := parseTail(end[int64(len(end))-size:], a)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return t.pages, nil
}
