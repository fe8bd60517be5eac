package manifest

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Refound stores a generation from which on a partition goes on whose later
// generations are lost: m, whose number is above all that there were, whose
// Oldest is that number, and whose parent is the newest generation that can be
// read, nil if none can. It fails with blob.ErrRetryable where that is another
// by now.
//
// The hint goes first, so that whoever reads meanwhile lists; and the earlier
// generations go last, so that no hint leads to them.
func Refound(ctx context.Context, bucket blob.Bucket, m Manifest) error {
	p, fail := m.Partition, func(err error) error {
		return fmt.Errorf("cannot make generation %d of partition %s anew: %w", m.Generation, m.Partition, err)
	}
	current, err := Read(ctx, bucket, p)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return fail(err)
	}
	if current.hash != m.Parent || current.Generation >= m.Generation {
		return fail(fmt.Errorf("generation %d was committed meanwhile: %w", current.Generation, blob.ErrRetryable))
	}
	content, err := m.encode()
	if err != nil {
		return fail(err)
	}
	if err := bucket.Delete(ctx, layout.HintKey(p)); err != nil {
		return fail(err)
	}
	if err := blob.CreateOnce(ctx, bucket, layout.ManifestKey(p, m.Generation), content); err != nil {
		return fail(err)
	}
	if err := bucket.Replace(ctx, layout.HintKey(p), content); err != nil {
		return fail(err)
	}
	var before []string
	for object, err := range bucket.List(ctx, layout.ManifestPrefix(p), "") {
		if err != nil {
			return fail(err)
		}
		if _, number, err := layout.ParseManifestKey(object.Key); err == nil && number < m.Generation {
			before = append(before, object.Key)
		}
	}
	for _, key := range before {
		if err := bucket.Delete(ctx, key); err != nil {
			return fail(err)
		}
	}
	return nil
}
