package segment

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Source reads several ranges of an object together. Callers must not change the results, because
// other callers may share them.
type Source interface {
	Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error)
}

// Ref names a segment: its key, its size and the size of its tail, which Open reads (see TailOf).
type Ref struct {
	Key         string
	Bytes, Tail int64
}

// Bytes is a Source that has one object in memory, and returns it for every key.
type Bytes []byte

// Read implements Source.
func (b Bytes) Read(ctx context.Context, _ string, ranges []blob.Range) ([][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	parts := make([][]byte, len(ranges))
	for i, r := range ranges {
		from, to, err := r.Within(int64(len(b)))
		if err != nil {
			return nil, err
		}
		parts[i] = b[from:to:to]
	}
	return parts, nil
}

// parallel is the greatest number of requests that Ranges sends at the same time for one Read.
const parallel = 8

// Ranges is a Source that sends one request for each range to a bucket, and caches
// nothing.
type Ranges struct{ Bucket blob.Reader }

// Read implements Source.
func (r Ranges) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	parts := make([][]byte, len(ranges))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, one := range ranges {
		group.Go(func() (err error) {
			parts[i], err = r.Bucket.Get(ctx, key, one)
			return err
		})
	}
	return parts, group.Wait()
}

// windowSize is the usual size, in bytes, of a request of windowReader, unless Segment.window is larger. A
// request is larger if the caller takes more bytes at once. It is smaller if less of the range is left.
const windowSize = 1 << 20

// windowReader reads a range of a segment from the first byte to the last, in few large
// requests.
type windowReader struct {
	segment  *Segment
	from, to int64  // range of the segment that is not yet read
	data     []byte // bytes that are read and not yet taken
}

// take returns the next n bytes of the range. Later calls do not overwrite them.
func (w *windowReader) take(ctx context.Context, n int64) ([]byte, error) {
	if lacks := n - int64(len(w.data)); lacks > 0 {
		size := min(max(lacks, windowSize, w.segment.window), w.to-w.from)
		if size < lacks {
			return nil, w.segment.wrap(damaged("%d bytes are asked for at %d, there are %d", lacks, w.from, size))
		}
		contents, err := w.segment.read(ctx, []blob.Range{{Offset: w.from, Length: size}})
		if err != nil {
			return nil, err
		}
		w.from += size
		if len(w.data) == 0 {
			w.data = contents[0]
		} else {
			w.data = append(w.data[:len(w.data):len(w.data)], contents[0]...)
		}
	}
	taken := w.data[:n:n]
	w.data = w.data[n:]
	return taken, nil
}
