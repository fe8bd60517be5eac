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

// ErrUnchanged is the error that the function edit, a parameter of Commit, returns to say that
// there is nothing to commit.
var ErrUnchanged = errors.New("manifest is unchanged")

// Fresh is the longest time that a commit may take. When the new generation is stored, less than
// Fresh must have passed since the generation before it was read, and since the objects that it
// adds were stored. Fresh is much shorter than the grace, after which unlisted objects are deleted,
// and than Keep, after which generations are deleted.
const Fresh = time.Hour

// Read returns the newest generation of a partition, or the zero Manifest if there is
// none. If the hint copies generation n, Read sends a GET for the hint, a GET for
// generation n+1, and, if this is absent, a HEAD for n. Generations are deleted in their
// order: as long as n exists, n+1 is absent because it was not written yet, not because it
// was deleted. If the hint or generation n is absent, Read lists the generations.
//
// If the newest generation is damaged, Read returns the newest that can be read, and
// its Later returns an error. If none can be read, Read fails with ErrDamaged.
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
// parameter hint is the generation that the partition's hint copies, or the zero Manifest if there
// is no hint. If no generation after hint can be read, newestListed returns hint. If a generation
// after the result is damaged, the result's Later returns an error. Foreign objects are ignored.
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

// Commit calls edit with a copy of the newest generation, stores the edited copy as the next
// generation, and returns it. If another committer was faster, Commit begins again, with the
// generation of that committer. If edit returns ErrUnchanged, Commit stores nothing and returns the
// newest generation. If edit returns another error, Commit stores nothing and returns this error.
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

// pause waits for a random time, so that the losers of a race do not collide again. The time is at
// most 1 ms before the first new try; this limit doubles with each try, up to 128 ms. pause fails
// when the context ends.
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

// Newer returns the newest generation of m's partition, which is m itself if no other has
// followed; in this case it sends a single GET. m must have been read less than an hour
// ago: later, the generations after m may be deleted, and Newer would wrongly return m.
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

// encoder and decoder compress and decompress all generations. They keep some memory between calls,
// but no content. They are created before main begins, so that their memory is not counted as that
// of a test.
var (
	encoder = newEncoder()
	decoder = newDecoder()
)

// newEncoder returns an encoder. It has encoded once, so that its memory is allocated already.
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
