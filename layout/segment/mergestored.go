package segment

import (
	"context"
	"fmt"
)

// mergeStored returns an object of the stored documents, with memory for all.
func mergeStored(ctx context.Context, all []*input, size int) (*object, error) {
	o := newObject(size)
	w := storedWriter{object: o}
	for _, in := range all {
		if err := in.copyStored(ctx, &w); err != nil {
			return nil, err
		}
	}
	w.close()
	return o, nil
}

// copyStored writes the stored documents.
func (in *input) copyStored(ctx context.Context, w *storedWriter) error {
	index := &in.tail.stored
	window := window{segment: in.Segment, from: index.start, to: index.end()}
	for block := range index.ends {
		sealed, err := window.take(ctx, index.at(block).Length)
		if err != nil {
			return err
		}
		from, to := index.first[block], index.first[block+1]
		// A small block is joined with the next, or merging would leave ever
		// more of them.
		if index.raw[block] >= storedBlock/2 && in.allLive(from, to) {
			if _, err := unseal(sealed); err != nil {
				return in.wrap(fmt.Errorf("stored block %d: %w", block, err))
			}
			w.copyBlock(sealed, index.raw[block], to-from)
			continue
		}
		r, err := openStored(sealed, index.raw[block], int(to-from))
		if err != nil {
			return in.wrap(fmt.Errorf("stored block %d: %w", block, err))
		}
		for i := range r.records {
			if in.lives(from + uint32(i)) {
				w.copy(r.records[i], r.bodies[i])
			}
		}
	}
	return nil
}
