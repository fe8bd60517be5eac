package merge

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// replace, in the edit of a commit, lists the merged segment in the place of its
// inputs. What died there while it was made is dead in it from the beginning. It
// returns partition.ErrStale when an input is not listed any more, when
// something in one came back to life, and when the merged segment may not be
// listed.
func (f *Function) replace(ctx context.Context, e *partition.Edit, inputs []*input, merged partition.Segment) error {
	late := roaring.New()
	offset := uint32(0)
	var keys []string
	var parts []manifest.Part
	for _, in := range inputs {
		listed := e.Manifest().Segments
		i := slices.IndexFunc(listed, func(s manifest.Segment) bool { return s.Key == in.Key })
		if i < 0 {
			return partition.ErrStale
		}
		dead, err := partition.Dead(ctx, f.Bucket, &listed[i])
		if err != nil {
			return err
		}
		if roaring.AndNot(in.dead, dead).GetCardinality() > 0 {
			return partition.ErrStale
		}
		for _, doc := range in.late(dead) {
			late.Add(offset + doc)
		}
		offset += uint32(in.Documents) - uint32(in.dead.GetCardinality())
		keys, parts = append(keys, in.Key), append(parts, in.parts()...)
	}
	if err := e.ReplaceSegments(keys, merged, parts...); err != nil {
		return err
	}
	return e.Mask(ctx, map[string]*roaring.Bitmap{merged.Key: late})
}
