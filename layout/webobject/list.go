package webobject

import (
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// suffix is how much of a package List asks for: some 700 pages.
const suffix = 64 << 10

// List returns all Web objects of the storage package with the key, in their
// order, by one GET of the package's end, or a second one if the end is larger
// than 64 KiB. It does not read their runs. Errors about the bytes wrap
// ErrDamaged; errors of the store are wrapped.
func List(ctx context.Context, r blob.Reader, key string) ([]Listed, error) {
	t, err := readTail(ctx, r, key)
	if err != nil {
		return nil, fmt.Errorf("cannot list package %s: %w", key, err)
	}
	return t.pages, nil
}

// Description is what a storage package says of itself.
type Description struct {
	Header Package // without runs
	Pages  []Listed
	End    int64  // of the room that runs and holes take
	Sum    uint32 // CRC-32 of all Web objects
}

// Describe is List, and tells more.
func Describe(ctx context.Context, r blob.Reader, key string) (Description, error) {
	t, err := readTail(ctx, r, key)
	if err != nil {
		return Description{}, fmt.Errorf("cannot read the description of package %s: %w", key, err)
	}
	return Description{t.header, t.pages, t.streamEnd(), t.members[0].crc}, nil
}

// IsErasedFrom reports whether d is what Erase left of a package, or the same
// once more: it has the same header and as much room, and every page of it stood
// at its place there.
func (d Description) IsErasedFrom(whole Description) bool {
	if d.End != whole.End || d.Header.Base != whole.Header.Base || d.Header.Exponent != whole.Header.Exponent ||
		!d.Header.Created.Equal(whole.Header.Created) || !d.Header.Expires.Equal(whole.Header.Expires) || len(d.Pages) == 0 {
		return false
	}
	if len(d.Pages) == len(whole.Pages) && d.Sum != whole.Sum {
		return false
	}
	left := whole.Pages
	for _, page := range d.Pages {
		i := slices.Index(left, page)
		if i < 0 {
			return false
		}
		left = left[i+1:] // both are in order
	}
	return true
}

func readTail(ctx context.Context, r blob.Reader, key string) (tail, error) {
	end, err := get(ctx, r, key, blob.Range{Offset: -suffix})
	if err != nil {
		return tail{}, err
	}
	a, err := parseDirectory(end)
	if err != nil {
		return tail{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	size := a.tailSize()
	if size > maxTail {
		return tail{}, fmt.Errorf("%w: description and map have %d bytes, at most %d are read", ErrDamaged, size, maxTail)
	}
	if size > suffix && len(end) == suffix {
		if end, err = get(ctx, r, key, blob.Range{Offset: -size}); err != nil {
			return tail{}, err
		}
	}
	if size > int64(len(end)) || len(end) < suffix && a.size() != int64(len(end)) {
		return tail{}, fmt.Errorf("%w: the directory is of a package of %d bytes, it has %d", ErrDamaged, a.size(), len(end))
	}
	t, err := parseTail(end[int64(len(end))-size:], a)
	if err != nil {
		return tail{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return t, nil
}
