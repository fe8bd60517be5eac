// Package epoch claims epochs: a rebuilt frontier starts in a new epoch, so that its
// tokens never repeat, and so does every other writer of outcomes that must be
// newer than all in the books (see layout.Version).
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

// Claim returns an epoch higher than all claimed ones, which no other caller gets.
// The claim records its claimer and the given generations, which the claimer has
// read. After an error the claim may exist nevertheless; its epoch is never used,
// and the next Claim returns a higher one.
func Claim(ctx context.Context, bucket blob.Bucket, by string, read ...manifest.Manifest) (uint64, error) {
	last, err := Last(ctx, bucket)
	if err != nil {
		return 0, err
	}
	// The nonce makes each claim unique, so that a retried Create recognises its
	// own (see blob.Retry).
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

// Last returns the highest claimed epoch; 0 when there is none. It ignores objects
// with keys that are not those of claims.
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
