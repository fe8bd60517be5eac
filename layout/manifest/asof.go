package manifest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Keep is the least time for which a generation (a version of a partition's manifest) is kept after
// the next generation was committed.
const Keep = 7 * 24 * time.Hour

// ErrNotKept means that the generation (version of a manifest) that was in force at the wanted time
// has been deleted, because of its age.
var ErrNotKept = errors.New("generation is not kept any more")

// AsOf returns the generation (version of the partition's manifest) that was in force at time t:
// the last whose Time is not later than t, or the zero Manifest if t is before the first. It fails
// with ErrNotKept if that generation has been deleted because of its age.
//
// The field Time is set by the clock of the committer. It never decreases from one generation to the
// next: a committer whose clock is behind repeats the Time of the generation before. If the
// generation in force at time t is lost or damaged, AsOf returns the newest earlier one that can be
// read.
//
// AsOf sends the requests of Read, and about one GET for each step of a binary search
// among the kept generations.
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

// isLost reports whether the error of reading a generation means that the generation is absent or
// damaged. The result is false if the store itself failed.
func isLost(err error) bool { return errors.Is(err, blob.ErrAbsent) || errors.Is(err, ErrDamaged) }

// Refound stores m as the first generation after generations were lost. The caller sets
// three fields:
//
//	Generation   higher than the number of any generation that ever existed
//	Oldest       the same number
//	Parent       hash of the newest generation that can be read; "" if there is none
//
// Refound fails with blob.ErrRetryable if the newest generation that it can read has another hash
// than m.Parent. Otherwise it takes four steps. It deletes the hint (a copy of the newest
// generation): without a hint, readers list the generations. It stores m. It writes m as the new
// hint. It deletes all generations before m.
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
