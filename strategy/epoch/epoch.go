// Package epoch claims epochs. A rebuilt frontier begins a new epoch, because Redis may give
// tokens again that it has given before: no pair (epoch, token) occurs twice. Imports and
// repairs claim epochs, too, so that their outcomes are newer than all in the books (see
// layout.Version).
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

// Claim stores a claim on a new epoch, and returns the epoch. It is higher than all epochs claimed
// before, and no other caller gets it. The claim records the claimer's name (the parameter by) and
// the generations of the manifests that the claimer has read (the parameter read). After an error
// the claim may exist nevertheless; its epoch is then never used, and the next Claim returns a
// higher one.
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

// Last returns the highest claimed epoch, 0 if there is none. It ignores objects in epochs/
// whose keys are not those of claims.
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
