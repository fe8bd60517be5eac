package rank

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/rank/linkgraph"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// ranking is the ranks of all pages while they are committed.
type ranking struct {
	*Function
	graph *linkgraph.Graph
	ranks []float64 // of each page of the graph
	known map[string]coded
}

// coded is the ranks of a segment's documents; of a damaged segment, the error.
type coded struct {
	ranks  []segment.Rank
	damage error
}

// atOnce is the greatest number of segments that are read at once.
const atOnce = 4

// commit sets the ranks of all documents of a partition, of which says of what they were
// made. A segment that cannot be read is left as it is: verify reports it.
func (r *ranking) commit(ctx context.Context, p *partition.Partition, of string) error {
	return p.Commit(ctx, func(e *partition.Edit) error {
		all, err := r.ofSegments(ctx, e.Manifest().Segments)
		if err != nil {
			return err
		}
		changed, err := e.SetRanks(ctx, all)
		if err != nil {
			return err
		}
		if !e.SetRanked(of) && !changed {
			return partition.ErrUnchanged
		}
		return nil
	})
}

// ofSegments returns the ranks of the documents of listed segments that can be read, by the
// segment's key. It remembers them, because an edit may be called several times.
func (r *ranking) ofSegments(ctx context.Context, listed []manifest.Segment) (map[string][]segment.Rank, error) {
	results := make([]coded, len(listed))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range listed {
		known, found := r.known[listed[i].Key]
		if found {
			results[i] = known
			continue
		}
		group.Go(func() error {
			ranks, err := r.ofSegment(within, &listed[i])
			if err != nil && !partition.IsDamaged(err) {
				return err
			}
			results[i] = coded{ranks, err}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := make(map[string][]segment.Rank)
	for i, s := range listed {
		r.known[s.Key] = results[i]
		if damage := results[i].damage; damage != nil {
			r.Log.ErrorContext(ctx, "the documents of a segment that cannot be read are not ranked", "key", s.Key, "error", damage)
			continue
		}
		all[s.Key] = results[i].ranks
	}
	return all, nil
}

// ofSegment returns the ranks of the documents of a listed segment. It reads the column of
// identities only.
func (r *ranking) ofSegment(ctx context.Context, listed *manifest.Segment) ([]segment.Rank, error) {
	s, err := partition.OpenSegment(ctx, segment.Ranges{Bucket: r.Bucket}, listed)
	if err != nil {
		return nil, err
	}
	identities, err := s.Identities(ctx)
	if err != nil {
		return nil, err
	}
	ranks := make([]segment.Rank, len(identities))
	for doc, id := range identities {
		if page, found := r.graph.Find(id); found {
			ranks[doc] = segment.RankOf(r.ranks[page] * float64(len(r.ranks)))
		}
	}
	return ranks, nil
}
