package repair

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// mendSegment takes a segment off the list and has its packages indexed again.
// One that is sound is condemned, for earlier generations list it. Another is
// not: the one that is made anew may have its name.
func (m *mending) mendSegment(ctx context.Context, key string) error {
	if !slices.ContainsFunc(m.base().Segments, func(s manifest.Segment) bool { return s.Key == key }) {
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
		if why != "" || layout.SegmentKey(m.ID(), layout.ContentHash(content)) != key {
			sound = false
			if err := m.remove(ctx, key, content); err != nil {
				return err
			}
		}
	}
	m.edits = append(m.edits, func(_ context.Context, e *partition.Edit) error { e.UnlistSegment(key, sound); return nil })
	m.said = append(m.said, key+why+" is off the list; it is made anew from its packages")
	return nil
}
