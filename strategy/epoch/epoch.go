// Package epoch begins new lives: of the frontier, so that its tokens never
// start again, and of whoever else must write outcomes that are newer than all
// that stand in the books (see layout.Version).
package epoch

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Claim returns an epoch that is higher than all that are claimed, and that
// nobody else is given. The claim is what is stored: it must differ from every
// other claim, so that a Create that is tried again knows its own (see
// blob.Retry). After an error the epoch may be claimed all the same; it is
// never used then, and the next Claim returns a higher one.
func Claim(ctx context.Context, bucket blob.Bucket, claim []byte) (uint64, error) {
	last, err := Last(ctx, bucket)
	if err != nil {
		return 0, err
	}
	for {
		last++
		err := bucket.Create(ctx, layout.EpochKey(last), claim)
		if err == nil {
			return last, nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return 0, fmt.Errorf("cannot claim epoch %d: %w", last, err)
		}
	}
}

// Last returns the highest epoch that is claimed, 0 when none is.
func Last(ctx context.Context, bucket blob.Reader) (uint64, error) {
	var last uint64
	for object, err := range bucket.List(ctx, layout.Epochs, "") {
		if err != nil {
			return 0, fmt.Errorf("cannot list epochs: %w", err)
		}
		if last, err = layout.ParseEpochKey(object.Key); err != nil {
			return 0, fmt.Errorf("cannot list epochs: %w", err)
		}
	}
	return last, nil
}
