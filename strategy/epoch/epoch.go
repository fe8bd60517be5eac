// Package epoch claims epochs. An epoch is a number that is recorded in the bucket, and only one
// caller gets it. A batch is identified by an epoch and a token, a number from a counter in Redis. If
// Redis is lost, this counter may give tokens that it has given before. So each rebuild of the frontier
// begins a new epoch, and no pair (epoch, token) occurs twice.
//
// Of two outcomes of a URL, the one with the higher pair is the newer one (see layout.Version). So
// imports and repairs claim epochs, too: then their outcomes are newer than all in the books.
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

// Claim stores a claim on a new epoch, and returns this epoch. The epoch is higher than all that were
// claimed before, and no other caller gets it. The claim records the claimer's name and the
// generations of the manifests that the claimer has read.
//
// Claims may be lost, as in a copy of a bucket that was cut short. So the epoch is also higher than that
// of each batch that these generations have consumed, and of each in the spool of their partitions.
//
// If Claim fails, the claim may have been stored nevertheless. Then its epoch is never used, and the next
// call of Claim returns a higher one.
func Claim(ctx context.Context, bucket blob.Bucket, by string, read ...manifest.Manifest) (uint64, error) {
	last, err := Last(ctx, bucket)
	if err != nil {
		return 0, err
	}
	for _, m := range read {
		spooled, err := lastSpooled(ctx, bucket, m.Partition)
		if err != nil {
			return 0, err
		}
		last = max(last, m.LastEpoch(), spooled)
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

// lastSpooled returns the highest epoch of the batches in the spool of a partition, 0 if there are none.
func lastSpooled(ctx context.Context, bucket blob.Reader, p layout.Partition) (uint64, error) {
	var last uint64
	for object, err := range bucket.List(ctx, layout.SpoolPrefix(p), "") {
		if err != nil {
			return 0, fmt.Errorf("cannot list the spool of partition %s: %w", p, err)
		}
		if _, batch, err := layout.ParseSpoolKey(object.Key); err == nil {
			last = max(last, batch.Epoch)
		}
	}
	return last, nil
}

// Last returns the highest claimed epoch, 0 if there is none. It ignores objects in epochs/
// whose keys do not have the form that layout.EpochKey gives the keys of claims.
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
