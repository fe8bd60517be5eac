package merge

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/segments"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// replace, the edit of a commit, lists the merged segment in the place of its
// inputs. What died there while it was made is dead in it from the beginning.
// It returns errStale when an input is not listed any more.
func (f *Function) replace(ctx context.Context, m *manifest.Manifest, inputs []*input, merged manifest.Segment) error {
	if m.IsCondemned(merged.Key) {
		return errStale
	}
	late := roaring.New()
	offset, at := uint32(0), len(m.Segments)
	for _, in := range inputs {
		i := slices.IndexFunc(m.Segments, func(s manifest.Segment) bool { return s.Key == in.Key })
		if i < 0 {
			return errStale
		}
		at = min(at, i)
		dead, err := segments.Dead(ctx, f.Bucket, &m.Segments[i])
		if err != nil {
			return err
		}
		for _, doc := range in.late(dead) {
			late.Add(offset + doc)
		}
		offset += uint32(in.Documents) - uint32(in.dead.GetCardinality())
		merged.Parts = append(slices.Clip(merged.Parts), in.parts()...)
	}
	m.Segments = slices.Insert(m.Segments, at, merged)
	m.Segments = slices.DeleteFunc(m.Segments, func(s manifest.Segment) bool {
		old := s.Key != merged.Key && slices.ContainsFunc(inputs, func(in *input) bool { return in.Key == s.Key })
		if old {
			m.Condemn(f.Now(), s.Key)
		}
		return old
	})
	return segments.Mask(ctx, f.Bucket, m, f.Now(), map[string]*roaring.Bitmap{merged.Key: late})
}
