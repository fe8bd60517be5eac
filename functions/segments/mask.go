package segments

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Mask, called in the edit of a commit, says of listed segments, by their keys,
// which of their documents are dead from now on, those that were already among
// them. A segment of which none is alive leaves the list, condemned.
//
// The overlays that it puts are named by the generation that is being made. An
// edit that is called again puts them again.
func Mask(ctx context.Context, bucket blob.Bucket, m *manifest.Manifest, at time.Time, dead map[string]*roaring.Bitmap) error {
	m.Segments = slices.DeleteFunc(m.Segments, func(s manifest.Segment) bool {
		d := dead[s.Key]
		over := d != nil && int(d.GetCardinality()) == s.Documents
		if over {
			m.Condemn(at, s.Key)
		}
		return over
	})
	puts, within := errgroup.WithContext(ctx)
	puts.SetLimit(parallel)
	for i := range m.Segments {
		s := &m.Segments[i]
		d := dead[s.Key]
		if d == nil || int(d.GetCardinality()) == s.Dead() {
			continue
		}
		puts.Go(func() (err error) {
			s.Deletions, err = putOverlay(within, bucket, m, segment.Deletions{Documents: s.Documents, Dead: d})
			return err
		})
	}
	return puts.Wait()
}

func putOverlay(ctx context.Context, bucket blob.Bucket, m *manifest.Manifest, d segment.Deletions) (*manifest.Deletions, error) {
	content, err := d.Encode()
	if err != nil {
		return nil, fmt.Errorf("cannot encode overlay: %w", err)
	}
	key := layout.OverlayKey(m.Partition, m.Generation+1, layout.ContentHash(content))
	if err := blob.CreateOnce(ctx, bucket, key, content); err != nil {
		return nil, fmt.Errorf("cannot put overlay %s: %w", key, err)
	}
	return &manifest.Deletions{Key: key, Bytes: int64(len(content)), Documents: int(d.Dead.GetCardinality())}, nil
}

// Drop, called in the edit of a commit, marks all documents of a package as
// dead wherever they are. It reads the overlays of the segments that have some.
func Drop(ctx context.Context, bucket blob.Bucket, m *manifest.Manifest, at time.Time, id uint32) error {
	dead := make(map[string]*roaring.Bitmap)
	for i := range m.Segments {
		s := &m.Segments[i]
		from, to, found := s.Part(id)
		if !found {
			continue
		}
		d, err := Dead(ctx, bucket, s)
		if err != nil {
			return err
		}
		d.AddRange(uint64(from), uint64(to))
		dead[s.Key] = d
	}
	return Mask(ctx, bucket, m, at, dead)
}
