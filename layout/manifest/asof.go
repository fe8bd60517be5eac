package manifest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Keep is how long a generation is kept at least after the next was committed.
const Keep = 7 * 24 * time.Hour

// ErrNotKept says that a moment is longer ago than generations are kept.
var ErrNotKept = errors.New("generation is not kept any more")

// AsOf returns the generation that was in force at a moment: the last whose time is
// not later, or the zero generation before the first. It fails with ErrNotKept if
// that generation is older than the oldest kept one.
//
// Times are those of the committers' clocks and never go back: after a commit by a
// clock that was ahead, later generations have the same time until it has passed. In
// place of a lost or damaged generation it returns the one before.
//
// AsOf sends the requests of Read and those of a binary search: one GET for each
// halving of the kept generations.
func AsOf(ctx context.Context, bucket blob.Reader, p layout.Partition, t time.Time) (Manifest, error) {
	newest, err := Read(ctx, bucket, p)
	if err != nil || !newest.Time.After(t) {
		return newest, err
	}
	// Generation low is not later than t, or is before all that are kept;
	// generation high is later.
	low, high := max(newest.Oldest, 1)-1, newest.Generation
	found := Manifest{Partition: p}
	for high-low > 1 {
		middle := low + (high-low)/2
		m, err := At(ctx, bucket, p, middle)
		for n := middle; isLost(err) && n > low+1; {
			n--
			m, err = At(ctx, bucket, p, n)
		}
		switch {
		case isLost(err): // or collected since newest was read
			low = middle
		case err != nil:
			return Manifest{}, err
		case m.Time.After(t):
			high = m.Generation
		default:
			low, found = middle, m
		}
	}
	if low > 0 && found.Generation == 0 {
		return Manifest{}, fmt.Errorf("partition %s as of %s: %w; ask for a later moment", p, t.UTC().Format(time.RFC3339), ErrNotKept)
	}
	return found, nil
}

// isLost reports whether a generation cannot be read, though the store answers.
func isLost(err error) bool { return errors.Is(err, blob.ErrAbsent) || errors.Is(err, ErrDamaged) }

// Refound stores m, with which a partition goes on after the loss of its newest
// generations. The number of m is higher than that of any generation that there was,
// its Oldest is the same, and its parent is the newest readable generation, if any.
// Refound fails with blob.ErrRetryable if another generation is the newest by now.
//
// It deletes the hint first, so that readers list, and the earlier generations last,
// so that no hint leads to them.
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
