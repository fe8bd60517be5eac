package segment

import (
	"context"
	"fmt"
	"slices"
)

// Stored returns the documents, in the order of docs, without fingerprints. It
// is one read.
func (s *Segment) Stored(ctx context.Context, docs []uint32) ([]Document, error) {
	index := &s.tail.stored
	blocks := make([]int, len(docs))
	for i, doc := range docs {
		if doc >= s.tail.documents {
			return nil, s.wrap(fmt.Errorf("document %d: there are %d", doc, s.tail.documents))
		}
		blocks[i] = index.find(doc)
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(blocks)))
	contents, err := s.read(ctx, index.ranges(distinct))
	if err != nil {
		return nil, err
	}
	found := make([]Document, len(docs))
	for n, block := range distinct {
		r, err := openStored(contents[n], index.raw[block], index.count(block))
		for i := range docs {
			if blocks[i] == block && err == nil {
				found[i], err = r.document(int(docs[i] - index.first[block]))
			}
		}
		if err != nil {
			return nil, s.wrap(fmt.Errorf("stored block %d: %w", block, err))
		}
	}
	return found, nil
}
