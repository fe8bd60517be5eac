package repair

import (
	"context"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// mendOverlay finds out anew which documents are dead of the segments whose
// overlay is lost. A segment that cannot be compared with the others is taken
// off the list instead, and made anew.
func (m *mending) mendOverlay(ctx context.Context, key string) error {
	listed := slices.ContainsFunc(m.base().Segments, func(s manifest.Segment) bool { return s.Deletions != nil && s.Deletions.Key == key })
	if !listed {
		return nil
	}
	content, found, err := m.get(ctx, key)
	if err != nil {
		return err
	}
	if found {
		if err := m.remove(ctx, key, content); err != nil {
			return err
		}
	}
	m.edits = append(m.edits, func(ctx context.Context, e *partition.Edit) error {
		for _, s := range slices.Clone(e.Manifest().Segments) {
			if s.Deletions == nil || s.Deletions.Key != key {
				continue
			}
			if err := m.maskAnew(ctx, e, s); err != nil {
				m.Log.WarnContext(ctx, "an overlay cannot be made anew, and its segment is", "partition", m.ID(), "key", s.Key, "error", err)
				e.UnlistSegment(s.Key, true)
			}
		}
		return nil
	})
	m.said = append(m.said, fmt.Sprintf("%s is lost, and made anew", key))
	return nil
}

// maskAnew marks the documents of a segment as dead whose package is not listed
// or lives in another segment, and those of which another segment has a live
// document of the same or a later version. What is forgotten of it is found by
// the next sweep.
func (m *mending) maskAnew(ctx context.Context, e *partition.Edit, s manifest.Segment) error {
	next := e.Manifest()
	all := segments.NewFinder(m.Bucket, func(layout.Identity) bool { return true })
	documents, err := all.Find(ctx, &s)
	if err != nil {
		return err
	}
	own := make(map[layout.Identity]segments.Match, len(documents))
	for _, d := range documents {
		own[d.ID] = d
	}
	dead := roaring.New()
	masked := func(other *manifest.Segment) bool {
		return other.Key != s.Key && (other.Deletions == nil || other.Deletions.Key != s.Deletions.Key)
	}
	for _, other := range next.Segments {
		if !masked(&other) {
			continue
		}
		rivals, err := all.Find(ctx, &other)
		if err != nil {
			return err
		}
		gone, err := partition.Dead(ctx, m.Bucket, &other)
		if err != nil {
			return err
		}
		for _, r := range rivals {
			if d, found := own[r.ID]; found && !gone.Contains(r.Doc) && r.Version.Compare(d.Version) >= 0 {
				dead.Add(d.Doc)
			}
		}
	}
	served, err := segments.LivePackages(ctx, m.Bucket, next, masked)
	if err != nil {
		return err
	}
	for _, part := range s.Parts {
		listed := slices.ContainsFunc(next.Packages, func(p manifest.Package) bool { return p.ID == part.Package })
		if from, to, _ := s.Part(part.Package); served[part.Package] || !listed {
			dead.AddRange(uint64(from), uint64(to))
		}
	}
	e.Unmask(s.Key)
	return e.Mask(ctx, map[string]*roaring.Bitmap{s.Key: dead})
}

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
	m.edit(func(e *partition.Edit) { e.UnlistSegment(key, sound) })
	m.said = append(m.said, key+why+" is off the list; it is made anew from its packages")
	return nil
}
