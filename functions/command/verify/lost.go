package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// foreign tells of objects that nobody here has written, wherever they are.
func (v *run) foreign(ctx context.Context) error {
	for _, prefix := range layout.Prefixes {
		for object, err := range v.Bucket.List(ctx, prefix, "") {
			if err != nil {
				return fmt.Errorf("cannot list %s: %w", prefix, err)
			}
			if layout.IsForeign(object.Key) {
				v.problem(Foreign, 0, object.Key, "is named as nothing here is, and nothing reads it; move it away")
			}
		}
	}
	return nil
}

// before returns the newest generation that can be read, for one in force that
// is damaged; nil if there is none.
func (v *run) before(ctx context.Context, p layout.Partition) (*generation, error) {
	m, err := manifest.Read(ctx, v.Bucket, p)
	switch {
	case errors.Is(err, blob.ErrRetryable) || ctx.Err() != nil:
		return nil, err
	case err != nil || m.Generation == 0: // told by its bytes
		return nil, nil
	}
	return &generation{Manifest: m, hash: m.Hash()}, nil
}

// lost tells what proves that a partition had later generations than its
// newest, and reports whether anything does.
func (v *run) lost(ctx context.Context, newest manifest.Manifest) (bool, error) {
	found, err := partition.Lost(ctx, v.Bucket, newest)
	for _, e := range found {
		v.problem(Lost, newest.Partition, e.Key, "%s; run bucketsearch verify --repair, which makes a generation anew from what is there", e.Detail)
	}
	return len(found) > 0, err
}
