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
// AsOf sends the requests of Read, about one GET for each step of a binary search among the kept
// generations, and those of At.
func AsOf(ctx context.Context, bucket blob.Reader, p layout.Partition, t time.Time) (Manifest, error) {
	newest, err := Read(ctx, bucket, p)
	if err != nil || !newest.Time.After(t) {
		return newest, err
	}
	e, err := InForce(ctx, bucket, newest, t)
	for err == nil && e.Generation > 0 {
		m, broken, lost := reach(ctx, bucket, p, e, Manifest{})
		if lost == nil {
			return m, nil
		}
		if isLost(lost) && m.Generation > 0 {
			return m, isKept(ctx, bucket, p, m.position.Checkpoint, t)
		}
		if !isLost(lost) {
			return Manifest{}, lost
		}
		if e, err = lastEntry(ctx, bucket, p, newest.Oldest, broken-1); err == nil && e.Generation == 0 {
			err = notKept(p, t)
		}
	}
	return Manifest{Partition: p}, err
}

// InForce returns the generation that was in force at time t, among those that are kept: the last one up
// to newest whose Time is not later than t. If this one is lost or damaged, it returns an earlier one. It
// fails with ErrNotKept if that generation has been deleted because of its age. If t is before the first
// generation, the result is the zero Entry.
func InForce(ctx context.Context, bucket blob.Reader, newest Manifest, t time.Time) (Entry, error) {
	p := newest.Partition
	if !newest.Time.After(t) {
		return lastEntry(ctx, bucket, p, newest.Oldest, newest.Generation)
	}
	// Generation low is not later than t, or is before all that are kept;
	// generation high is later.
	low, high := max(newest.Oldest, 1)-1, newest.Generation
	var found Entry
	for high-low > 1 {
		middle := low + (high-low)/2
		e, err := lastEntry(ctx, bucket, p, low+1, middle)
		switch {
		case err != nil:
			return Entry{}, err
		case e.Generation == 0: // lost, or collected since newest was read
			low = middle
		case e.Time.After(t):
			high = e.Generation
		default:
			low, found = middle, e
		}
	}
	if low > 0 && found.Generation == 0 {
		return Entry{}, notKept(p, t)
	}
	if found.Generation < low {
		return found, isKept(ctx, bucket, p, found.Generation, t)
	}
	return found, nil
}

// isKept is called when generations after the given one are absent. They may be lost: then the given one stands for
// the state at time t. Or they were deleted since the search began, because of their age. As generations are deleted
// in ascending order, the given one is then absent, too, and isKept fails with ErrNotKept.
func isKept(ctx context.Context, bucket blob.Reader, p layout.Partition, generation uint64, t time.Time) error {
	_, err := bucket.Head(ctx, layout.ManifestKey(p, generation))
	if errors.Is(err, blob.ErrAbsent) {
		return notKept(p, t)
	}
	return err
}

func notKept(p layout.Partition, t time.Time) error {
	return fmt.Errorf("partition %s as of %s: %w; ask for a later moment", p, t.UTC().Format(time.RFC3339), ErrNotKept)
}

// lastEntry returns the last generation from the number high down to low that is neither lost nor
// damaged; the zero Entry if there is none.
func lastEntry(ctx context.Context, bucket blob.Reader, p layout.Partition, low, high uint64) (Entry, error) {
	for number := high; number >= max(low, 1); number-- {
		e, err := GetEntry(ctx, bucket, p, number)
		switch {
		case err == nil:
			return e, nil
		case !isLost(err):
			return Entry{}, err
		}
	}
	return Entry{}, nil
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
	content, err := m.encode(new(Manifest))
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
