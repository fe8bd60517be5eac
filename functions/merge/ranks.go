package merge

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// mergeAnchors merges the anchors (texts of links to documents) of the inputs, and returns the
// result, which can be used until free is called (see segment.Merge). It returns nil if an input has no anchors, or
// if the anchors of an input cannot be read.
func (f *Function) mergeAnchors(ctx context.Context, inputs []*input) (content []byte, free func(), err error) {
	none := func() {}
	var all []segment.Input
	most := int64(1 << 20)
	for _, in := range inputs {
		if in.Anchors == nil {
			return nil, none, nil
		}
		var opened *segment.Segment
		source, err := f.source(ctx, in.Anchors.Key, in.Anchors.Bytes)
		if err == nil {
			opened, err = partition.OpenAnchors(ctx, source, &in.Segment)
		}
		if partition.IsDamaged(err) {
			return nil, none, nil // verify reports it
		}
		if err != nil {
			return nil, nil, err
		}
		all = append(all, segment.Input{Segment: opened, Dead: in.dead})
		most += 2 * in.Anchors.Bytes
	}
	content, free, err = segment.Merge(ctx, all, most, f.Dir)
	if partition.IsDamaged(err) {
		return nil, none, nil
	}
	return content, free, err
}

// ranking is the ranks and anchors (texts of links) of the merged segment, collected from the
// inputs of the merge.
type ranking struct {
	ranks   []segment.Rank
	found   bool   // at least one input has ranks
	whole   bool   // every input has ranks and anchors, and no anchors were replaced during the merge
	anchors []byte // merged anchors of all inputs; nil if they cannot be used
}

// add appends to r.ranks the ranks of those documents of an input that the merge has kept. The
// parameter listed is the input's entry in the newest manifest. add reads the ranks that this entry
// names, because the ranks may have changed since the merge began. If the object with the ranks is
// damaged or missing, the input counts as one without ranks.
func (r *ranking) add(ctx context.Context, bucket blob.Reader, in *input, listed *manifest.Segment) error {
	ranks, err := partition.Ranks(ctx, bucket, listed)
	if err != nil && !partition.IsDamaged(err) {
		return err
	}
	if in.Anchors == nil || listed.Anchors == nil || in.Anchors.Key != listed.Anchors.Key {
		r.whole, r.anchors = false, nil
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

// set stores the collected ranks and anchors (texts of links) as overlays of the merged segment,
// which is given by its key. If ranks or anchors of an input were missing or have changed, it
// clears Manifest.Ranked, so that the function rank ranks all documents again.
func (r *ranking) set(ctx context.Context, e *partition.Edit, key string) error {
	if !r.whole || r.anchors == nil {
		e.SetRanked("")
	}
	if r.anchors != nil {
		if _, err := e.SetAnchors(ctx, map[string][]byte{key: r.anchors}); err != nil {
			return err
		}
	}
	if !r.found {
		return nil
	}
	_, err := e.SetRanks(ctx, map[string][]segment.Rank{key: r.ranks})
	return err
}
