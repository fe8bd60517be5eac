package repair

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// mendSegment takes a segment off the list and has its packages indexed again.
// It is not condemned: the one that is made anew has the same name, unless
// something else was wrong with it.
func (m *mending) mendSegment(ctx context.Context, key string) error {
	if !slices.ContainsFunc(m.base.Segments, func(s manifest.Segment) bool { return s.Key == key }) {
		return nil
	}
	content, found, err := m.get(ctx, key)
	if err != nil {
		return err
	}
	if _, err := segment.Open(content); found && (err != nil || layout.SegmentKey(m.base.Partition, layout.ContentHash(content)) != key) {
		if err := m.remove(ctx, key, content); err != nil {
			return err
		}
	}
	m.edits = append(m.edits, func(next *manifest.Manifest) {
		unlist(next, func(s manifest.Segment) bool { return s.Key == key })
		uncondemn(next, key)
	})
	m.said = append(m.said, key+" is off the list; it is made anew from its packages")
	return nil
}

// unlist takes segments off the list; all their packages are to be indexed.
func unlist(next *manifest.Manifest, which func(manifest.Segment) bool) {
	again := make(map[uint32]bool)
	next.Segments = slices.DeleteFunc(next.Segments, func(s manifest.Segment) bool {
		if !which(s) {
			return false
		}
		for _, id := range s.Packages {
			again[id] = true
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
