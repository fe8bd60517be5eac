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

// ErrUnchanged, returned by an edit, says that nothing is left to commit.
var ErrUnchanged = errors.New("manifest is unchanged")

// Fresh is how long ago the base of a commit may have been read, and what it
// lists may have been put: much shorter than anything that nobody needs is kept.
const Fresh = time.Hour

// Read returns the newest generation of a partition, or the zero generation. It
// costs two GETs, for the hint and the generation behind it, and a HEAD of the
// hint's generation: the oldest are deleted first, so that a missing next one
// proves nothing unless this one is there.
//
// If the newest generation is damaged, Read returns the one before, and its
// Later says so. Read fails with ErrDamaged where none can be read.
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

// At returns one generation of a partition, or an error wrapping
// blob.ErrAbsent or ErrDamaged.
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

// newestListed returns the newest generation that can be read, of those that
// are listed and of which the hint, the zero generation if there is none, is a
// copy. Foreign objects are left alone.
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
		if number <= hint.Generation { // of the newest only the hint is left
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

// Commit makes edit true in the next generation of the partition and returns
// it. It calls edit with the newest generation, and again whenever another
// committer was faster. When edit returns ErrUnchanged, Commit returns the base
// without an error; every other error of edit ends the commit.
//
// Only layout/partition calls it, which keeps the rules of what may be listed.
// Times never go back: a commit whose clock is behind takes the time of its
// base. A committer that was suspended for longer than [Fresh] begins again.
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
		if err == nil && late() { // so late that it may follow what is deleted
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

// pause spreads the losers of a race.
func pause(ctx context.Context, try int) error {
	longest := time.Millisecond << min(try, 7)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(longest)):
		return nil
	}
}

// Hint returns the generation of which the hint is a copy: the newest or one a
// little older. It fails where there is no hint that can be used.
func Hint(ctx context.Context, bucket blob.Reader, p layout.Partition) (Manifest, error) {
	content, err := bucket.Get(ctx, layout.HintKey(p), blob.Range{})
	if err != nil {
		return Manifest{}, err
	}
	return Decode(p, content)
}

// Newer returns the newest generation of the partition of m, which is m when
// none followed it: one GET then. It is for those who read m within the hour.
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
		return m, nil // all that is left of it
	}
	return next, err
}

// follow returns the last generation from m on.
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

// maxBytes is how large a generation may be, uncompressed.
const maxBytes = 256 << 20

// The compressors keep some memory, and nothing of what went through them. They
// are made before main begins, lest they belong to the first test that uses
// them.
var (
	encoder = newEncoder()
	decoder = newDecoder()
)

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
