package sweep

import (
	"context"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/segments"
	"github.com/bucketsearch/bucketsearch/functions/task"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// cleanSegment marks the documents of a segment that are forgotten as dead, and
// has merge write it anew without them, and without those that were dead
// before. It returns the segment's key if it is clean.
func (p *partition) cleanSegment(ctx context.Context, listed manifest.Segment) (key string, err error) {
	forgotten, err := p.forgottenIn(ctx, &listed)
	if err != nil || forgotten.IsEmpty() {
		return listed.Key, err
	}
	err = p.commit(ctx, func(m *manifest.Manifest) error {
		for i := range m.Segments {
			s := &m.Segments[i]
			if s.Key != listed.Key || s.Erase {
				continue
			}
			dead, err := segments.Dead(ctx, p.Bucket, s)
			if err != nil {
				return err
			}
			dead.Or(forgotten)
			s.Erase = true
			return segments.Mask(ctx, p.Bucket, m, p.Now(), map[string]*roaring.Bitmap{s.Key: dead})
		}
		return manifest.ErrUnchanged
	})
	if err != nil {
		return "", err
	}
	p.Log.InfoContext(ctx, "a segment holds what is forgotten, and is written anew", "partition", p.id, "generation", p.manifest.Generation,
		"segment", listed.Key, "documents", forgotten.GetCardinality())
	return "", task.Send(ctx, p.Sender, task.Merge, task.Tiers{Storage: p.id}, 0)
}

// forgottenIn returns the documents of a segment that are forgotten, dead or
// alive, as its columns tell.
func (p *partition) forgottenIn(ctx context.Context, listed *manifest.Segment) (*roaring.Bitmap, error) {
	found := roaring.New()
	opened, err := segments.Open(ctx, segments.Ranges{Bucket: p.Bucket}, listed)
	if err != nil {
		return nil, err
	}
	identities, err := opened.Identities(ctx)
	if err != nil {
		return nil, err
	}
	sites := new(segment.StringColumn)
	if p.settings.Takedowns.HasSites() {
		if sites, err = opened.Strings(ctx, segment.Sites); err != nil {
			return nil, err
		}
	}
	for doc, id := range identities {
		site := ""
		if len(sites.Of) > 0 {
			site = sites.Get(uint32(doc))[0]
		}
		if p.settings.Takedowns.ForgetsPage(id, site) {
			found.Add(uint32(doc))
		}
	}
	return found, nil
}
