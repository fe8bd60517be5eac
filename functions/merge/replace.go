package merge

import (
	"context"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/segments"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// replace, the edit of a commit, lists the merged segment, put at a moment, in
// the place of its inputs. What died there while it was made is dead in it from
// the beginning. It returns errStale when an input is not listed any more, when
// something in one came back to life, and when the merged segment may not be
// listed.
func (f *Function) replace(ctx context.Context, m *manifest.Manifest, inputs []*input, merged manifest.Segment, put time.Time) error {
	if !m.MayList(merged.Key, f.Now().Sub(put)) {
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
		if roaring.AndNot(in.dead, dead).GetCardinality() > 0 {
			return errStale
		}
		for _, doc := range in.late(dead) {
			late.Add(offset + doc)
		}
		offset += uint32(in.Documents) - uint32(in.dead.GetCardinality())
		merged.Parts = append(slices.Clip(merged.Parts), in.parts()...)
	}
	m.Segments = slices.DeleteFunc(m.Segments, func(s manifest.Segment) bool {
		old := slices.ContainsFunc(inputs, func(in *input) bool { return in.Key == s.Key })
		if old && s.Key != merged.Key { // which is what it was when nothing was dead
			m.Condemn(f.Now(), s.Key)
		}
		return old
	})
	m.Segments = slices.Insert(m.Segments, at, merged) // all before it are still there
	return segments.Mask(ctx, f.Bucket, m, f.Now(), map[string]*roaring.Bitmap{merged.Key: late})
}
