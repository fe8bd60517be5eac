package repair

import (
	"context"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring"

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
	own, err := m.columns(ctx, &s)
	if err != nil {
		return err
	}
	dead := roaring.New()
	served := make(map[uint32]bool) // packages that live in other segments
	for _, other := range next.Segments {
		if other.Key == s.Key || other.Deletions != nil && s.Deletions.Key == other.Deletions.Key {
			continue
		}
		columns, err := m.columns(ctx, &other)
		if err != nil {
			return err
		}
		masked, err := partition.Dead(ctx, m.Bucket, &other)
		if err != nil {
			return err
		}
		for doc, id := range columns.identities {
			if masked.Contains(uint32(doc)) {
				continue
			}
			if i, found := own.of[id]; found && columns.versions[doc].Compare(own.versions[i]) >= 0 {
				dead.Add(i)
			}
		}
		from := 0
		for _, part := range other.Parts {
			to := from + part.Documents
			alive := roaring.New()
			alive.AddRange(uint64(from), uint64(to))
			served[part.Package] = served[part.Package] || alive.AndCardinality(masked) < uint64(part.Documents)
			from = to
		}
	}
	from := 0
	for _, part := range s.Parts {
		to := from + part.Documents
		listed := slices.ContainsFunc(next.Packages, func(p manifest.Package) bool { return p.ID == part.Package })
		if served[part.Package] || !listed {
			dead.AddRange(uint64(from), uint64(to))
		}
		from = to
	}
	e.Unmask(s.Key)
	return e.Mask(ctx, map[string]*roaring.Bitmap{s.Key: dead})
}

// columns are those by which documents are compared.
type columns struct {
	identities []layout.Identity
	versions   []layout.Version
	of         map[layout.Identity]uint32
}

func (m *mending) columns(ctx context.Context, s *manifest.Segment) (c columns, err error) {
	opened, err := partition.OpenSegment(ctx, segment.Ranges{Bucket: m.Bucket}, s)
	if err != nil {
		return columns{}, err
	}
	if c.identities, err = opened.Identities(ctx); err != nil {
		return columns{}, err
	}
	if c.versions, err = opened.Versions(ctx); err != nil {
		return columns{}, err
	}
	c.of = make(map[layout.Identity]uint32, len(c.identities))
	for doc, id := range c.identities {
		c.of[id] = uint32(doc)
	}
	return c, nil
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
	m.edits = append(m.edits, func(_ context.Context, e *partition.Edit) error { e.UnlistSegment(key, sound); return nil })
	m.said = append(m.said, key+why+" is off the list; it is made anew from its packages")
	return nil
}
