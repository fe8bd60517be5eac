package manifest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// ErrUnchanged must be returned by the function that a caller passes to Commit, if there is nothing
// to commit.
var ErrUnchanged = errors.New("manifest is unchanged")

// Fresh is the longest time that a commit may take. A new generation must be stored within Fresh of
// two moments: when its base (the generation before) was read, and when the objects that it adds
// were stored. Fresh is much shorter than the grace, after which unlisted objects are deleted, and
// than Keep, after which generations are deleted.
const Fresh = time.Hour

// Read returns the newest generation of a partition, or the zero Manifest if there is none. It
// first reads the hint, which is a copy of a recent generation. Then it requests the generations
// after that, one by one, until one is absent. If already the first of them is absent, the copied
// generation is the newest, or is so old that those after it were deleted. To decide this, Read
// checks by a HEAD whether the copied generation itself exists. Generations are deleted in ascending
// order. So if it exists, no later one was deleted, and it is the newest. If it is absent, or if the
// hint is, Read lists the generations.
//
// If the newest generation is damaged, Read returns the newest that can be read; the method Later
// of this Manifest returns an error. If none can be read, Read fails with ErrDamaged.
func Read(ctx context.Context, bucket blob.Reader, p layout.Partition) (Manifest, error) {
	hint, err := Hint(ctx, bucket, p)
	if err == nil {
		m, err := follow(ctx, bucket, hint)
		if err == nil && m.Generation == hint.Generation {
			_, err = bucket.Head(ctx, layout.ManifestKey(p, m.Generation))
		}
		if !errors.Is(err, blob.ErrAbsent) && !errors.Is(err, ErrDamaged) {
			return m, err
		}
	}
	m, err := newestListed(ctx, bucket, p, hint)
	if err != nil || m.later != nil {
		return m, err
	}
	return follow(ctx, bucket, m)
}

// At returns one generation of a partition. Its error wraps blob.ErrAbsent or
// ErrDamaged if the generation is absent or damaged.
func At(ctx context.Context, bucket blob.Reader, p layout.Partition, generation uint64) (Manifest, error) {
	key := layout.ManifestKey(p, generation)
	content, err := bucket.Get(ctx, key, blob.Range{})
	if err != nil {
		return Manifest{}, fmt.Errorf("cannot read manifest %s: %w", key, err)
	}
	m, err := Decode(p, content)
	if err == nil && m.Generation != generation {
		err = fmt.Errorf("%w: it is of generation %d", ErrDamaged, m.Generation)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("cannot read manifest %s: %w", key, err)
	}
	return m, nil
}

// newestListed lists the generations of a partition, and returns the newest that can be read. The
// parameter hint is a generation that the caller has read already (from the partition's hint), or
// the zero Manifest. newestListed tries only later generations. If none of them can be read, it
// returns the parameter. If a generation later than the result is damaged, the method Later of the
// result returns an error. Objects of other programs are ignored.
func newestListed(ctx context.Context, bucket blob.Reader, p layout.Partition, hint Manifest) (Manifest, error) {
	var listed []uint64
	for object, err := range bucket.List(ctx, layout.ManifestPrefix(p), "") {
		if err != nil {
			return Manifest{}, fmt.Errorf("cannot list manifests of partition %s: %w", p, err)
		}
		if _, number, err := layout.ParseManifestKey(object.Key); err == nil {
			listed = append(listed, number)
		}
	}
	newest := Manifest{Partition: p}
	if hint.Generation > 0 {
		newest = hint
	}
	for _, number := range slices.Backward(listed) {
		if number <= hint.Generation { // no listed generation is newer than the hint
			break
		}
		m, err := At(ctx, bucket, p, number)
		switch {
		case err == nil:
			m.later = newest.later
			return m, nil
		case !errors.Is(err, ErrDamaged):
			return Manifest{}, err
		case newest.later == nil:
			newest.later = err
		}
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
// Only layout/partition calls Commit: that package checks the rules about listed objects.
// Times never go back: if the clock is behind the time of the newest generation, the next
// one gets the same time. A commit that takes longer than [Fresh], for instance because
// the process was suspended, begins again. If the generation was already stored by then,
// Commit fails with blob.ErrRetryable.
func Commit(ctx context.Context, bucket blob.Bucket, p layout.Partition, now func() time.Time, edit func(*Manifest) error) (Manifest, error) {
	for try := 0; ; try++ {
		began := now()
		late := func() bool { return now().Sub(began) >= Fresh }
		base, err := Read(ctx, bucket, p)
		if err == nil {
			err = base.Later()
		}
		if err != nil {
			return Manifest{}, err
		}
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
		content, err := next.encode()
		if err != nil {
			return Manifest{}, err
		}
		if late() {
			continue
		}
		key := layout.ManifestKey(p, next.Generation)
		err = blob.CreateOnce(ctx, bucket, key, content)
		if err == nil && late() { // so late that the generations before it may be deleted
			return Manifest{}, fmt.Errorf("cannot tell whether %s was committed: %w", key, blob.ErrRetryable)
		}
		if err == nil {
			next.hash = layout.ContentHash(content)
			// A lost hint costs its readers a request and nothing else.
			_ = bucket.Replace(ctx, layout.HintKey(p), content)
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

// Newer returns the newest generation of a partition, of which the caller has read the generation m.
// If m still is the newest, Newer sends only one GET, which finds that the next generation is absent.
// The caller must have read m less than an hour ago. After a longer time, the next generation may be
// absent because it was deleted, and Newer would wrongly return m.
func Newer(ctx context.Context, bucket blob.Reader, m Manifest) (Manifest, error) {
	next, err := At(ctx, bucket, m.Partition, m.Generation+1)
	if errors.Is(err, blob.ErrAbsent) {
		return m, nil
	}
	if err == nil {
		if hint, err := Hint(ctx, bucket, m.Partition); err == nil && hint.Generation > next.Generation {
			next = hint
		}
		next, err = follow(ctx, bucket, next)
	}
	if !errors.Is(err, ErrDamaged) {
		return next, err
	}
	if next, err = Read(ctx, bucket, m.Partition); err == nil && next.Generation < m.Generation {
		return m, nil // m is newer than all that can still be read
	}
	return next, err
}

// follow reads the generations after m one by one, and returns the last that exists; m itself if
// there is none after it. It fails if one of them is damaged.
func follow(ctx context.Context, bucket blob.Reader, m Manifest) (Manifest, error) {
	for {
		next, err := At(ctx, bucket, m.Partition, m.Generation+1)
		if errors.Is(err, blob.ErrAbsent) {
			return m, nil
		}
		if err != nil {
			return Manifest{}, err
		}
		m = next
	}
}

// maxBytes is the greatest size of a generation before compression, in bytes.
const maxBytes = 256 << 20

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
