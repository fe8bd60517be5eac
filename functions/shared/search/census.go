package search

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Documents returns the number of pages that the index has.
func (ix *Index) Documents() int { return ix.documents }

// visited returns the parts of the index that have pages, without the URLs that are known only by links.
func (ix *Index) visited() []Part {
	return slices.DeleteFunc(slices.Clone(ix.parts), func(p Part) bool { return p.Unvisited })
}

// Census counts all pages of the index by the values of the given columns, such as Site. Result i maps each value
// of column names[i] to the number of pages that have it. Census reads these columns of all segments.
func (ix *Index) Census(ctx context.Context, names ...string) ([]map[string]int, error) {
	s := &search{ix: ix, query: &Query{Facets: names}, gathered: newGathered(ix.visited(), ix.memory)}
	err := s.each(withoutDeadline(ctx), func(ctx context.Context, part int) error {
		return s.readColumns(ctx, part, &filter{}, names)
	})
	if err != nil {
		return nil, err
	}
	for part, p := range s.parts {
		for doc := range uint32(p.Segment.Documents()) {
			if p.Dead == nil || !p.Dead.Contains(doc) {
				s.see(int32(part), doc)
			}
		}
	}
	counts := make([]map[string]int, len(names))
	for i := range names {
		counts[i] = s.sums(i)
	}
	return counts, nil
}

// Sample returns at most n pages of the index. They are spread evenly over all pages, in the order in which the
// segments store them.
func (ix *Index) Sample(ctx context.Context, n int) ([]segment.Document, error) {
	parts, all := ix.visited(), 0
	for _, p := range parts {
		all += p.Segment.Documents()
	}
	if n = min(n, all); n == 0 {
		return nil, nil
	}
	read := make([][]segment.Document, len(parts))
	group, ctx := errgroup.WithContext(ctx)
	fork := meter.NewFork(ctx)
	before := 0 // number of documents in the parts before
	for part, p := range parts {
		var docs []uint32
		for i := range n {
			doc := i*all/n + all/(2*n) - before
			if doc >= 0 && doc < p.Segment.Documents() && (p.Dead == nil || !p.Dead.ContainsInt(doc)) {
				docs = append(docs, uint32(doc))
			}
		}
		before += p.Segment.Documents()
		if len(docs) == 0 {
			continue
		}
		group.Go(func() (err error) {
			if read[part], err = p.Segment.Stored(fork.Branch(), docs); err != nil {
				err = &Unreadable{p.Segment.Ref().Key, err}
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(read...), nil
}
