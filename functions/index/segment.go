package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// putSegment puts the segment of the documents under a key that may be listed.
//
// A package that is indexed again may give the very bytes of an earlier
// segment, the key of which is condemned, or the stored bytes of which are
// damaged. No commit may list a condemned key, so that the sweep can delete it
// at any time and without looking. Such a segment is given the number of the
// generation that it is built on, which makes bytes of its own: of every later
// generation, others.
func (f *Function) putSegment(ctx context.Context, current *manifest.Manifest, documents []segment.Document) (*manifest.Segment, error) {
	content, err := segment.Build(documents)
	if err != nil {
		return nil, err
	}
	for range 2 {
		key := layout.SegmentKey(current.Partition, layout.ContentHash(content))
		if condemned(current, key) {
			err = fmt.Errorf("cannot put segment %s: it is condemned", key)
		} else if err = blob.CreateOnce(ctx, f.Bucket, key, content); err == nil {
			return &manifest.Segment{Key: key, Bytes: int64(len(content)), Documents: len(documents)}, nil
		} else if err = fmt.Errorf("cannot put segment %s: %w", key, err); !errors.Is(err, blob.ErrExists) {
			break
		}
		content = segment.Distinct(content, current.Generation)
	}
	return nil, err
}

func condemned(m *manifest.Manifest, key string) bool {
	return slices.ContainsFunc(m.Condemned, func(c manifest.Condemned) bool { return c.Key == key })
}

// list marks the package as indexed and lists its segment, if it has one, in
// place of those that hold nothing but an earlier form of it. A package is
// indexed exactly once, whoever was faster. It returns errAgain when pages
// were erased from the package since, or the segment's key was condemned.
func list(m *manifest.Manifest, pkg manifest.Package, built *manifest.Segment, now time.Time) error {
	i := slices.IndexFunc(m.Packages, func(listed manifest.Package) bool { return listed.ID == pkg.ID })
	switch {
	case i < 0 || m.Packages[i].Indexed:
		return manifest.ErrUnchanged
	case m.Packages[i].Key != pkg.Key || built != nil && condemned(m, built.Key):
		return errAgain
	}
	m.Packages[i].Indexed = true
	m.Segments = slices.DeleteFunc(m.Segments, func(s manifest.Segment) bool {
		if !slices.Equal(s.Packages, []uint32{pkg.ID}) {
			return false
		}
		if built == nil || s.Key != built.Key {
			m.Condemn(now, s.Key)
		}
		return true
	})
	if built != nil {
		s := *built
		s.Packages = []uint32{pkg.ID}
		m.Segments = append(m.Segments, s)
	}
	return nil
}
