package segments

import (
	"context"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// LivePackages returns the packages that have live documents in some segments,
// by their identifiers. Where it cannot be read which documents are dead, none
// is.
func LivePackages(ctx context.Context, bucket blob.Reader, m *manifest.Manifest, which func(*manifest.Segment) bool) (map[uint32]bool, error) {
	live := make(map[uint32]bool)
	for i := range m.Segments {
		s := &m.Segments[i]
		if !which(s) {
			continue
		}
		dead, err := partition.Dead(ctx, bucket, s)
		if partition.IsDamaged(err) {
			dead, err = roaring.New(), nil
		}
		if err != nil {
			return nil, err
		}
		for _, part := range s.Parts {
			from, to, _ := s.Part(part.Package)
			own := roaring.New()
			own.AddRange(uint64(from), uint64(to))
			live[part.Package] = live[part.Package] || own.AndCardinality(dead) < uint64(part.Documents)
		}
	}
	return live, nil
}
