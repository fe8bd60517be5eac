package segment

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// windowSize is how much of a segment is read at once when all of it is read.
const windowSize = 1 << 20

// window reads a part of a segment from its beginning to its end.
type window struct {
	segment  *Segment
	from, to int64  // what is to be read
	data     []byte // what was read and not taken
}

// take returns the next n bytes, which stay as they are.
func (w *window) take(ctx context.Context, n int64) ([]byte, error) {
	if lacks := n - int64(len(w.data)); lacks > 0 {
		size := min(max(lacks, windowSize), w.to-w.from)
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
