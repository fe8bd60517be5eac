package manifest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// ErrUnchanged must be returned by the function that a caller passes to Commit, if there is nothing
// to commit.
var ErrUnchanged = errors.New("manifest is unchanged")

// Fresh is the longest time that a commit may take. A new generation must be stored within Fresh of
// two moments: when its base (the generation before) was read, and when the objects that it adds
// were stored. Fresh is much shorter than the grace, after which unlisted objects are deleted, and
// than Keep, after which generations are deleted.
const Fresh = time.Hour

// Read returns the newest generation of a partition; the zero Manifest if there is none. It reads
//
//	1  the hint, which is a copy of a recent generation
//	2  the generations after the copied one, several at the same time (see interval), until one is absent
//	3  if the very first of these is absent: by a HEAD, whether the copied generation itself exists
//
// In step 3, the copied generation is either the newest, or so old that the generations after it were deleted.
// Generations are deleted in ascending order. So if the copied generation exists, no later one was deleted, and it
// is the newest. If it or the hint is absent, Read lists the generations.
//
// If the newest generation is damaged, Read returns the newest that can be read; the method Later of this Manifest
// returns an error. If none can be read, Read fails with ErrDamaged.
func Read(ctx context.Context, bucket blob.Reader, p layout.Partition) (Manifest, error) {
	last := Manifest{Partition: p} // last generation that can be reached from the hint
	hint, err := Hint(ctx, bucket, p)
	if err == nil {
		last, err = follow(ctx, bucket, hint, interval(hint.position.Bytes))
		if err == nil && last.Generation == hint.Generation {
			_, err = bucket.Head(ctx, layout.ManifestKey(p, hint.Generation))
		}
		if !isLost(err) {
			return last, err
		}
	}
	m, err := newestListed(ctx, bucket, p, last)
	if err != nil || m.later != nil {
		return m, err
	}
	if m, err = follow(ctx, bucket, m, 1); errors.Is(err, ErrDamaged) {
		m.later, err = err, nil
	}
	return m, err
}

// Reread returns the newest generation of a partition, as Read does, but by fewer requests. The parameter known is
// a generation that the caller has read or committed before, at any time. If it still is the newest, Reread sends
// two GETs at the same time. One finds that the next generation is absent, the other that the known one is stored
// unchanged. Only a process that is suspended for days between the two requests could take an old generation for
// the newest; see Fresh.
func Reread(ctx context.Context, bucket blob.Reader, known Manifest) (Manifest, error) {
	if known.Generation == 0 || known.later != nil {
		return Read(ctx, bucket, known.Partition)
	}
	var newest Manifest
	var stored bool
	fork := meter.NewFork(ctx)
	var both errgroup.Group
	both.Go(func() (err error) {
		newest, err = follow(fork.Branch(), bucket, known, 1)
		return err
	})
	both.Go(func() error {
		content, found, err := blob.Find(fork.Branch(), bucket, layout.ManifestKey(known.Partition, known.Generation))
		stored = found && layout.ContentHash(content) == known.hash
		return err
	})
	err := both.Wait()
	if err == nil && newest.Generation == known.Generation && !stored || errors.Is(err, ErrDamaged) {
		return Read(ctx, bucket, known.Partition)
	}
	return newest, err
}

// newestListed lists the generations of a partition, and returns the newest that can be read. The
// parameter known is a generation that the caller has read already, or the zero Manifest. newestListed
// tries only later generations. If none of them can be read, it returns the parameter. If a generation
// later than the result is damaged, the method Later of the result returns an error. Objects of other
// programs are ignored.
func newestListed(ctx context.Context, bucket blob.Reader, p layout.Partition, known Manifest) (Manifest, error) {
	var listed []uint64
	for object, err := range bucket.List(ctx, layout.ManifestPrefix(p), "") {
		if err != nil {
			return Manifest{}, fmt.Errorf("cannot list manifests of partition %s: %w", p, err)
		}
		if _, number, err := layout.ParseManifestKey(object.Key); err == nil && number > known.Generation {
			listed = append(listed, number)
		}
	}
	newest := known
	below := uint64(math.MaxUint64) // generations from this number on cannot be read
	for _, number := range slices.Backward(listed) {
		if number >= below {
			continue
		}
		var m Manifest
		broken := number
		e, err := GetEntry(ctx, bucket, p, number)
		if err == nil {
			m, broken, err = reach(ctx, bucket, p, e, known)
		}
		if err == nil || errors.Is(err, ErrDamaged) && m.Generation > known.Generation {
			m.later = cmp.Or(newest.later, err)
			return m, nil
		}
		if !errors.Is(err, ErrDamaged) {
			return Manifest{}, err
		}
		newest.later, below = cmp.Or(newest.later, err), broken
	}
	if newest.Generation == 0 {
		return newest, newest.later
	}
	return newest, nil
}

// Commit calls the function edit with a copy of the newest generation, stores the edited copy as
// the next generation, and returns it. If another committer was faster, Commit begins again, with
// the generation of that committer. If the function returns ErrUnchanged, Commit stores nothing and
// returns the newest generation. If it returns another error, Commit stores nothing and returns
// this error.
//
// Only layout/partition and tests call Commit and CommitAfter: that package checks the rules about listed objects.
// Times never go back: if the clock is behind the time of the newest generation, the next
// one gets the same time. A commit that takes longer than [Fresh], for instance because
// the process was suspended, begins again. If the generation was already stored by then,
// Commit fails with blob.ErrRetryable.
func Commit(ctx context.Context, bucket blob.Bucket, p layout.Partition, now func() time.Time, edit func(*Manifest) error) (Manifest, error) {
	return CommitAfter(ctx, bucket, Manifest{Partition: p}, now, edit)
}

// CommitAfter does the same as Commit. The caller has read or committed the generation known before,
// at any time: then the newest generation is found by fewer requests (see Reread).
func CommitAfter(ctx context.Context, bucket blob.Bucket, known Manifest, now func() time.Time, edit func(*Manifest) error) (Manifest, error) {
	for try := 0; ; try++ {
		began := now()
		late := func() bool { return now().Sub(began) >= Fresh }
		base, err := Reread(ctx, bucket, known)
		if err == nil {
			err = base.Later()
		}
		if err != nil {
			return Manifest{}, err
		}
		known = base
		next := base.Clone()
		if err := edit(&next); errors.Is(err, ErrUnchanged) {
			return base, nil
		} else if err != nil {
			return Manifest{}, err
		}
		next.Generation, next.Parent = base.Generation+1, base.hash
		if next.Time = now().UTC().Truncate(time.Millisecond); next.Time.Before(base.Time) {
			next.Time = base.Time
		}
		content, err := next.encode(&base)
		if err != nil {
			return Manifest{}, fmt.Errorf("cannot commit: %w", err)
		}
		if late() {
			continue
		}
		key := layout.ManifestKey(next.Partition, next.Generation)
		err = blob.CreateOnce(ctx, bucket, key, content)
		if err == nil && late() { // so late that the generations before it may be deleted
			return Manifest{}, fmt.Errorf("cannot tell whether %s was committed: %w", key, blob.ErrRetryable)
		}
		if err == nil {
			if next.isWhole() {
				_ = bucket.Replace(ctx, layout.HintKey(next.Partition), content)
			} else if next.Generation%interval(next.position.Bytes) == 0 {
				_ = PutHint(ctx, bucket, next) // a lost hint costs its readers requests and nothing else
			}
			return next, nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return Manifest{}, fmt.Errorf("cannot commit %s: %w", key, err)
		}
		if err := pause(ctx, try); err != nil {
			return Manifest{}, fmt.Errorf("cannot commit %s: %w", key, err)
		}
	}
}

// isWhole reports whether the generation is stored whole, and not as a delta.
func (m *Manifest) isWhole() bool { return m.position.Checkpoint == m.Generation }

// pause waits for a random time before a commit is tried again, so that the losers of a race do not
// collide once more. The parameter is the number of the try, from 0. For try 0 the time is at most 1
// ms; this limit doubles with each try, up to 128 ms. pause fails when the context ends.
func pause(ctx context.Context, try int) error {
	longest := time.Millisecond << min(try, 7)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(longest)):
		return nil
	}
}

// Hint returns the generation that a partition's hint copies: the newest, or one a
// little older. It fails if the hint is absent or damaged.
func Hint(ctx context.Context, bucket blob.Reader, p layout.Partition) (Manifest, error) {
	content, err := bucket.Get(ctx, layout.HintKey(p), blob.Range{})
	if err != nil {
		return Manifest{}, err
	}
	return Decode(p, content)
}

// PutHint makes the hint of a partition a copy of the generation m.
func PutHint(ctx context.Context, bucket blob.Bucket, m Manifest) error {
	content, err := m.encodeCopy()
	if err == nil {
		err = bucket.Replace(ctx, layout.HintKey(m.Partition), content)
	}
	if err != nil {
		return fmt.Errorf("cannot replace the hint of partition %s: %w", m.Partition, err)
	}
	return nil
}

// Newer returns the newest generation of a partition, of which the caller has read the generation m.
// If m still is the newest, Newer sends only one GET, which finds that the next generation is absent.
// The caller must have read m less than an hour ago. After a longer time, the next generation may be
// absent because it was deleted, and Newer would wrongly return m.
func Newer(ctx context.Context, bucket blob.Reader, m Manifest) (Manifest, error) {
	return newer(ctx, bucket, m, 1)
}

// NewerHint does the same as Newer for a generation m that was read from the hint. It requests all generations up
// to the next hint at the same time, because so many may exist.
func NewerHint(ctx context.Context, bucket blob.Reader, m Manifest) (Manifest, error) {
	return newer(ctx, bucket, m, interval(m.position.Bytes))
}

func newer(ctx context.Context, bucket blob.Reader, m Manifest, ahead uint64) (Manifest, error) {
	next, err := follow(ctx, bucket, m, ahead)
	if !errors.Is(err, ErrDamaged) {
		return next, err
	}
	if next, err = Read(ctx, bucket, m.Partition); err == nil && next.Generation < m.Generation {
		return m, nil // m is newer than all that can still be read
	}
	return next, err
}

// encoder and decoder compress and decompress all generations. They are made before main begins, and
// not at their first use. So a test that measures the memory of some work does not count that of the
// two.
var (
	encoder = newEncoder()
	decoder = newDecoder()
)

// newEncoder returns an encoder that has compressed once already, so that it has allocated its
// memory.
func newEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // an option that is not valid
	}
	e.EncodeAll(nil, nil)
	return e
}

func newDecoder() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBytes), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // an option that is not valid
	}
	return d
}

func compress(content []byte) []byte { return encoder.EncodeAll(content, nil) }

func decompress(stored []byte) ([]byte, error) {
	content, err := decoder.DecodeAll(stored, nil)
	if err != nil {
		return nil, fmt.Errorf("it cannot be decompressed: %w", err)
	}
	return content, nil
}
