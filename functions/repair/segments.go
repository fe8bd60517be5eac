package repair

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// mendSegment takes a segment off the list and has its packages indexed again.
// One that is sound is condemned, for earlier generations list it. Another is
// not: the one that is made anew may have its name.
func (m *mending) mendSegment(ctx context.Context, key string) error {
	if !slices.ContainsFunc(m.base.Segments, func(s manifest.Segment) bool { return s.Key == key }) {
		return nil
	}
	content, found, err := m.get(ctx, key)
	if err != nil {
		return err
	}
	why, sound := "", found
	if found {
		if err := segment.Check(content); err != nil {
			why = " (" + err.Error() + ")"
		}
		if why != "" || layout.SegmentKey(m.base.Partition, layout.ContentHash(content)) != key {
			sound = false
			if err := m.remove(ctx, key, content); err != nil {
				return err
			}
		}
	}
	m.edits = append(m.edits, func(_ context.Context, next *manifest.Manifest) error {
		m.unlist(next, key)
		if !sound {
			uncondemn(next, key)
		}
		return nil
	})
	m.said = append(m.said, key+why+" is off the list; it is made anew from its packages")
	return nil
}

// unlist takes a segment off the list, condemned; all its packages are to be
// indexed.
func (m *mending) unlist(next *manifest.Manifest, key string) {
	uncondemn(next, key)
	next.Condemn(m.Now(), key)
	again := make(map[uint32]bool)
	next.Segments = slices.DeleteFunc(next.Segments, func(s manifest.Segment) bool {
		if s.Key != key {
			return false
		}
		for _, part := range s.Parts {
			again[part.Package] = true
		}
		return true
	})
	for i := range next.Packages {
		if again[next.Packages[i].ID] {
			next.Packages[i].Indexed = false
		}
	}
}

// uncondemn keeps the collector from what is, or may be, listed again.
func uncondemn(next *manifest.Manifest, key string) {
	next.Condemned = slices.DeleteFunc(next.Condemned, func(c manifest.Condemned) bool { return c.Key == key })
}
