package merge

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// ranking is the ranks of a merged segment while those of its inputs are added.
type ranking struct {
	ranks []segment.Rank
	found bool // an input has ranks
	whole bool // all inputs have
}

// add adds the ranks of an input, which is listed as given, for the documents that the merge
// has kept. An overlay that is damaged or missing counts as none: verify reports it.
func (r *ranking) add(ctx context.Context, bucket blob.Reader, in *input, listed *manifest.Segment) error {
	ranks, err := partition.Ranks(ctx, bucket, listed)
	if err != nil && !partition.IsDamaged(err) {
		return err
	}
	if ranks == nil {
		r.whole = false
		ranks = make([]segment.Rank, in.Documents)
	} else {
		r.found = true
	}
	for doc, rank := range ranks {
		if !in.dead.ContainsInt(doc) {
			r.ranks = append(r.ranks, rank)
		}
	}
	return nil
}

// set sets the ranks of the merged segment with the key. If an input lacked them, it has
// the function rank rank all documents again.
func (r *ranking) set(ctx context.Context, e *partition.Edit, key string) error {
	if !r.whole {
		e.SetRanked("")
	}
	if !r.found {
		return nil
	}
	_, err := e.SetRanks(ctx, map[string][]segment.Rank{key: r.ranks})
	return err
}
