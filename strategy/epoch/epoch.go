// Package epoch begins new lives: of the frontier, so that its tokens never
// start again, and of whoever else must write outcomes that are newer than all
// that stand in the books (see layout.Version).
package epoch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Claim returns an epoch that is higher than all that are claimed, and that
// nobody else is given. What is stored says by whom it is claimed, and which
// generations of partitions the claimer has read, of those that are given. After
// an error the epoch may be claimed all the same; it is never used then, and the
// next Claim returns a higher one.
func Claim(ctx context.Context, bucket blob.Bucket, by string, read ...manifest.Manifest) (uint64, error) {
	last, err := Last(ctx, bucket)
	if err != nil {
		return 0, err
	}
	// It differs from every other claim, so that a Create that is tried again
	// knows its own (see blob.Retry).
	claim := layout.Claim{By: by, Nonce: rand.Text(), Generations: make(map[layout.Partition]uint64, len(read))}
	for _, m := range read {
		claim.Generations[m.Partition] = m.Generation
	}
	content := claim.Encode()
	for {
		last++
		err := bucket.Create(ctx, layout.EpochKey(last), content)
		if err == nil {
			return last, nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return 0, fmt.Errorf("cannot claim epoch %d: %w", last, err)
		}
	}
}

// Last returns the highest epoch that is claimed, 0 when none is. Foreign objects
// claim none.
func Last(ctx context.Context, bucket blob.Reader) (uint64, error) {
	var last uint64
	for object, err := range bucket.List(ctx, layout.Epochs, "") {
		if err != nil {
			return 0, fmt.Errorf("cannot list epochs: %w", err)
		}
		if number, err := layout.ParseEpochKey(object.Key); err == nil {
			last = number
		}
	}
	return last, nil
}
