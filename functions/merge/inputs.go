package merge

import (
	"context"
	"fmt"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// input is a segment that is merged.
type input struct {
	manifest.Segment
	opened *segment.Segment
	dead   *roaring.Bitmap // what the merge leaves out
}

// open opens segments, some at once.
func (f *Function) open(ctx context.Context, listed []manifest.Segment) ([]*input, error) {
	all := make([]*input, len(listed))
	group, within := errgroup.WithContext(ctx)
	for i, s := range listed {
		group.Go(func() (err error) {
			in := &input{Segment: s}
			source, err := f.source(within, &s)
			if err != nil {
				return err
			}
			if in.opened, err = partition.OpenSegment(within, source, &s); err != nil {
				return err
			}
			in.dead, err = partition.Dead(within, f.Bucket, &s)
			all[i] = in
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return all, nil
}

// source reads a small segment whole, which takes one request and not one for
// each of its columns.
func (f *Function) source(ctx context.Context, s *manifest.Segment) (segment.Source, error) {
	if s.Bytes > f.Tiers.Least {
		return segment.Ranges{Bucket: f.Bucket}, nil
	}
	content, err := f.Bucket.Get(ctx, s.Key, blob.Range{})
	if err != nil {
		return nil, fmt.Errorf("cannot read segment %s: %w", s.Key, err)
	}
	return segment.Bytes(content), nil
}

func forSegment(inputs []*input) []segment.Input {
	all := make([]segment.Input, len(inputs))
	for i, in := range inputs {
		all[i] = segment.Input{Segment: in.opened, Dead: in.dead}
	}
	return all
}

// most returns how many bytes a merged segment may take: it is never much more
// than its inputs are.
func most(inputs []*input) (most int64) {
	most = 1 << 20
	for _, in := range inputs {
		most += 2 * in.Bytes
	}
	return most
}

// parts returns the parts of which the merge keeps documents.
func (in *input) parts() (parts []manifest.Part) {
	from := 0
	for _, part := range in.Parts {
		to := from + part.Documents
		if left := part.Documents - count(in.dead, from, to); left > 0 {
			parts = append(parts, manifest.Part{Package: part.Package, Documents: left})
		}
		from = to
	}
	return parts
}

// late returns the numbers, among the documents that the merge keeps, of those
// that died since.
func (in *input) late(dead *roaring.Bitmap) []uint32 {
	numbers := roaring.AndNot(dead, in.dead).ToArray()
	for i, doc := range numbers {
		numbers[i] = doc - uint32(count(in.dead, 0, int(doc)))
	}
	return numbers
}

// count returns how many of the documents from..to-1 are in the set.
func count(set *roaring.Bitmap, from, to int) int {
	below := func(doc int) int {
		if doc == 0 {
			return 0
		}
		return int(set.Rank(uint32(doc - 1)))
	}
	return below(to) - below(from)
}
