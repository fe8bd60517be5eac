package manifest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Keep is how long a generation can be asked for after the next has followed
// it.
const Keep = 7 * 24 * time.Hour

// ErrNotKept says that a moment is longer ago than generations are kept.
var ErrNotKept = errors.New("generation is not kept any more")

// AsOf returns the generation that was in force at a moment: the last whose time
// is not later. Before the first that is the zero generation. It fails with
// ErrNotKept before the oldest that is kept.
//
// Times are those of the committers' clocks and never go back. After a commit by
// a clock that was ahead, later generations share its time until that has come.
// A generation that is lost or damaged is replaced by the one before.
//
// It costs what Read does, and a GET for each halving of the generations.
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

// Refound stores m, with which a partition goes on whose later generations are
// lost. Its number is above all that there were, its Oldest is that number, and
// its parent is the newest generation that can be read, if any. It fails with
// blob.ErrRetryable where that is another by now.
//
// The hint is deleted first, so that readers list; the earlier generations are
// deleted last, so that no hint leads to them.
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
