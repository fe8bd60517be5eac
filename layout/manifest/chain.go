package manifest

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// parallel is the greatest number of generations that are requested at the same time.
const parallel = 32

// GetEntry reads one generation of a partition as it is stored, by one request. Its error wraps
// blob.ErrAbsent or ErrDamaged if the generation is absent or damaged.
func GetEntry(ctx context.Context, bucket blob.Reader, p layout.Partition, generation uint64) (Entry, error) {
	key := layout.ManifestKey(p, generation)
	content, err := bucket.Get(ctx, key, blob.Range{})
	if err != nil {
		return Entry{}, fmt.Errorf("cannot read manifest %s: %w", key, err)
	}
	e, err := DecodeEntry(p, content)
	if err == nil && e.Generation != generation {
		err = fmt.Errorf("%w: it is of generation %d", ErrDamaged, e.Generation)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("cannot read manifest %s: %w", key, err)
	}
	return e, nil
}

// fetched is the result of reading one generation as it is stored.
type fetched struct {
	entry Entry
	err   error
}

// getEntries reads the generations with the numbers from to to−1, all at the same time.
func getEntries(ctx context.Context, bucket blob.Reader, p layout.Partition, from, to uint64) []fetched {
	all := make([]fetched, to-from)
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	group.SetLimit(parallel)
	for i := range all {
		group.Go(func() error {
			all[i].entry, all[i].err = GetEntry(fork.Branch(), bucket, p, from+uint64(i))
			return nil
		})
	}
	_ = group.Wait()
	return all
}

// At returns one generation of a partition. If the generation is absent or damaged, the error wraps blob.ErrAbsent
// or ErrDamaged. If it is a delta, At also reads all generations from its last checkpoint on, up to 100 requests
// at the same time; if one of these cannot be read, the error wraps ErrDamaged, too.
func At(ctx context.Context, bucket blob.Reader, p layout.Partition, generation uint64) (Manifest, error) {
	e, err := GetEntry(ctx, bucket, p, generation)
	if err != nil {
		return Manifest{}, err
	}
	m, _, err := reach(ctx, bucket, p, e, Manifest{})
	if err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// reach returns the generation that is stored as last. If it is a delta, reach reads the generations before it,
// from its checkpoint on. The parameter known is a generation that the caller has already, or the zero Manifest.
// If it is later than the checkpoint, reach begins after it. If a generation on the way cannot be read, the
// results are the generation before that one, its number, and an error that wraps ErrDamaged. (If it is the first
// on the way, there is no generation before it, and the result is the zero Manifest.)
func reach(ctx context.Context, bucket blob.Reader, p layout.Partition, last Entry, known Manifest) (m Manifest, broken uint64, err error) {
	if !last.IsWhole() {
		from := last.Checkpoint
		if known.Generation >= from && known.Generation < last.Generation {
			m, from = known, known.Generation+1
		}
		for i, f := range getEntries(ctx, bucket, p, from, last.Generation) {
			number := from + uint64(i)
			next, err := f.entry, f.err
			if errors.Is(err, blob.ErrAbsent) {
				err = fmt.Errorf("cannot read manifest %s: %w: generation %d, from which it follows, is absent", layout.ManifestKey(p, last.Generation), ErrDamaged, number)
			}
			if err == nil {
				err = m.advance(p, next)
			}
			if err != nil {
				return m, number, err
			}
		}
	}
	err = m.advance(p, last)
	return m, last.Generation, err
}

// advance replaces m by the next generation of partition p. If the next one does not follow from m,
// advance fails and does not change m.
func (m *Manifest) advance(p layout.Partition, next Entry) error {
	after, err := next.After(*m)
	if err != nil {
		return fmt.Errorf("cannot read manifest %s: %w", layout.ManifestKey(p, next.Generation), err)
	}
	*m = after
	return nil
}

// follow reads the generations after m, and returns the last that exists; m itself if there is none after it. It
// requests several generations at the same time: first as many as the parameter ahead says, then twice as many
// each time all of them exist. When m is far behind, follow goes on from the hint. If one of the generations is
// damaged, or is absent although a later one exists, follow returns the generation before it, and an error that
// wraps ErrDamaged.
func follow(ctx context.Context, bucket blob.Reader, m Manifest, ahead uint64) (Manifest, error) {
	p := m.Partition
	for {
		next := getEntries(ctx, bucket, p, m.Generation+1, m.Generation+1+ahead)
		for i, f := range next {
			if errors.Is(f.err, blob.ErrAbsent) && anyExists(next[i+1:]) { // it may have been committed meanwhile
				f.entry, f.err = GetEntry(ctx, bucket, p, m.Generation+1)
				if errors.Is(f.err, blob.ErrAbsent) {
					return m, fmt.Errorf("cannot read manifest %s: %w: it is absent, and a later one exists", layout.ManifestKey(p, m.Generation+1), ErrDamaged)
				}
			}
			if errors.Is(f.err, blob.ErrAbsent) {
				return m, nil
			}
			err := f.err
			if err == nil {
				err = m.advance(p, f.entry)
			}
			if err != nil {
				return m, err
			}
		}
		far := ahead > 1
		ahead = min(2*ahead, 2*parallel)
		if !far {
			continue
		}
		if hint, err := Hint(ctx, bucket, p); err == nil && hint.Generation > m.Generation {
			m, ahead = hint, interval(hint.position.Bytes)
		}
	}
}

func anyExists(all []fetched) bool {
	for _, f := range all {
		if f.err == nil || errors.Is(f.err, ErrDamaged) {
			return true
		}
	}
	return false
}

// interval returns the number of commits from one hint to the next, 1 to 8. The parameter is the stored size of
// the last checkpoint, in bytes. A hint is a whole copy of a generation, so it is about as large. A small hint is
// written often, because it saves readers requests for deltas; a large one is written seldom, because writing it
// costs more than these requests.
func interval(checkpoint int64) uint64 {
	const step, most = 16 << 10, 8
	return uint64(min(max(checkpoint/step, 1), most))
}
