package erase

import (
	"context"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// cleanSegment marks the documents of a segment that are forgotten as dead, and
// has merge write it anew without them, and without those that were dead
// before. It returns the segment's key if it is clean.
func (e *Eraser) cleanSegment(ctx context.Context, listed manifest.Segment) (key string, err error) {
	forgotten, err := e.forgottenIn(ctx, &listed)
	if err != nil || forgotten.IsEmpty() {
		return listed.Key, err
	}
	err = e.Commit(ctx, func(edit *partition.Edit) error {
		for _, s := range edit.Manifest().Segments {
			if s.Key != listed.Key || s.Erase {
				continue
			}
			dead, err := partition.Dead(ctx, e.Bucket, &s)
			if err != nil {
				return err
			}
			dead.Or(forgotten)
			edit.RewriteSegment(s.Key)
			return edit.Mask(ctx, map[string]*roaring.Bitmap{s.Key: dead})
		}
		return partition.ErrUnchanged
	})
	if err != nil {
		return "", err
	}
	e.Log.InfoContext(ctx, "a segment holds what is forgotten, and is written anew", "partition", e.ID(), "generation", e.Manifest().Generation,
		"segment", listed.Key, "documents", forgotten.GetCardinality())
	return "", task.Send(ctx, e.Sender, task.Merge, task.Tiers{Storage: e.ID()}, 0)
}

// forgottenIn returns the documents of a segment that are forgotten, dead or
// alive, as its columns tell.
func (e *Eraser) forgottenIn(ctx context.Context, listed *manifest.Segment) (*roaring.Bitmap, error) {
	found := roaring.New()
	opened, err := partition.OpenSegment(ctx, segment.Ranges{Bucket: e.Bucket}, listed)
	if err != nil {
		return nil, err
	}
	identities, err := opened.Identities(ctx)
	if err != nil {
		return nil, err
	}
	sites := new(segment.StringColumn)
	if e.Takedowns.HasSites() {
		if sites, err = opened.Strings(ctx, segment.Sites); err != nil {
			return nil, err
		}
	}
	for doc, id := range identities {
		site := ""
		if len(sites.Of) > 0 {
			site = sites.Get(uint32(doc))[0]
		}
		if e.Takedowns.ForgetsPage(id, site) {
			found.Add(uint32(doc))
		}
	}
	return found, nil
}
