package verify

import (
	"context"
	"fmt"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// exists returns the sizes of a partition's packages, books, segments and
// overlays, whether or not they are listed.
func (v *run) exists(ctx context.Context, p layout.Partition) (map[string]int64, error) {
	sizes := make(map[string]int64)
	for _, prefix := range []string{layout.Packages, layout.Books, layout.Segments, layout.Overlays} {
		for object, err := range v.Bucket.List(ctx, prefix+p.String()+"/", "") {
			if err != nil {
				return nil, fmt.Errorf("cannot list %s of partition %s: %w", prefix, p, err)
			}
			if !layout.IsForeign(object.Key) {
				sizes[object.Key] = object.Size
			}
		}
	}
	return sizes, nil
}

// objects checks that what a generation lists is there, in its size, once and
// not condemned, and counts what is there for nothing but the past.
func (v *run) objects(m *manifest.Manifest, exists map[string]int64) {
	condemned := make(map[string]bool, len(m.Condemned))
	for _, c := range m.Condemned {
		condemned[c.Key] = true
	}
	seen := make(map[string]bool)
	for key, bytes := range m.Objects() {
		size, found := exists[key]
		switch {
		case !found:
			v.problem(Missing, m.Partition, key, "is missing")
		case size != bytes:
			v.problem(Damaged, m.Partition, key, "has %d bytes, and the manifest says %d", size, bytes)
		}
		overlay := strings.HasPrefix(key, layout.Overlays) // two segments may have the same
		if seen[key] && !overlay {
			v.problem(Double, m.Partition, key, "is listed twice")
		}
		if condemned[key] {
			v.problem(Double, m.Partition, key, "is listed and condemned")
		}
		seen[key] = true
	}
	v.count(func(r *Report) {
		for key := range exists {
			switch {
			case seen[key]:
			case strings.HasPrefix(key, layout.Overlays): // earlier generations may list it
			case condemned[key]:
				r.Waiting.Delete++
			default:
				r.Orphans++
			}
		}
	})
}
