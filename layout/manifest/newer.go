package manifest

import (
	"context"
	"errors"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Hint returns the generation of which the hint is a copy: the newest or one a
// little older. It fails where there is no hint that can be used.
func Hint(ctx context.Context, bucket blob.Reader, p layout.Partition) (Manifest, error) {
	content, err := bucket.Get(ctx, layout.HintKey(p), blob.Range{})
	if err != nil {
		return Manifest{}, err
	}
	return Decode(p, content)
}

// Newer returns the newest generation of the partition of m, which is m when
// none followed it: one GET then. It is for those who read m within the hour.
func Newer(ctx context.Context, bucket blob.Reader, m Manifest) (Manifest, error) {
	next, err := At(ctx, bucket, m.Partition, m.Generation+1)
	if errors.Is(err, blob.ErrAbsent) {
		return m, nil
	}
	if err == nil {
		if hint, err := Hint(ctx, bucket, m.Partition); err == nil && hint.Generation > next.Generation {
			next = hint
		}
		next, err = follow(ctx, bucket, next)
	}
	if !errors.Is(err, ErrDamaged) {
		return next, err
	}
	if next, err = Read(ctx, bucket, m.Partition); err == nil && next.Generation < m.Generation {
		return m, nil // all that is left of it
	}
	return next, err
}

// follow returns the last generation from m on.
func follow(ctx context.Context, bucket blob.Reader, m Manifest) (Manifest, error) {
	for {
		next, err := At(ctx, bucket, m.Partition, m.Generation+1)
		if errors.Is(err, blob.ErrAbsent) {
			return m, nil
		}
		if err != nil {
			return Manifest{}, err
		}
		m = next
	}
}
