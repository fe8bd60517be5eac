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

// pageWindow reads positions from their beginning to their end.
type pageWindow struct {
	window window
	rest   int64  // bytes that are to be read, without checksums
	offset int64  // of data
	data   []byte // what was read and not taken
}

func (s *Segment) pageWindow() pageWindow {
	return pageWindow{window: window{segment: s, from: s.tail.pagesFrom(), to: s.tail.columnsFrom()}, rest: s.tail.positions}
}

// take returns n bytes from the offset, where the last ones ended. They are
// valid until the next call.
func (w *pageWindow) take(ctx context.Context, offset, n int64) ([]byte, error) {
	s := w.window.segment
	if offset != w.offset || n > w.rest+int64(len(w.data)) {
		return nil, s.wrap(damaged("positions are due at %d, not %d", w.offset, offset))
	}
	if n > int64(len(w.data)) {
		w.data = append(make([]byte, 0, n+pageContent), w.data...)
	}
	for int64(len(w.data)) < n {
		size := min(w.rest, pageContent)
		sealed, err := w.window.take(ctx, size+sealSize)
		if err != nil {
			return nil, err
		}
		page, err := unseal(sealed)
		if err != nil {
			return nil, s.wrap(damaged("positions at %d: %w", offset, err))
		}
		w.data = append(w.data, page...)
		w.rest -= size
	}
	taken := w.data[:n:n]
	w.data = w.data[n:]
	w.offset += n
	return taken, nil
}
