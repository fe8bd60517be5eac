// Package segments is what those functions share that write the index of a
// partition or look into it: how a segment is put under a name that may be
// listed, how it is opened, how documents are marked as dead within a commit,
// and which segments are to be merged.
package segments

import (
	"context"
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Open opens a listed segment by one read.
func Open(ctx context.Context, source segment.Source, listed *manifest.Segment) (*segment.Segment, error) {
	s, err := segment.Open(ctx, source, segment.Ref{Key: listed.Key, Bytes: listed.Bytes, Tail: listed.Tail})
	if err != nil {
		return nil, fmt.Errorf("cannot open segment %s: %w", listed.Key, err)
	}
	if s.Documents() != listed.Documents {
		return nil, fmt.Errorf("cannot open segment %s: %w: it holds %d documents, and the manifest says %d",
			listed.Key, segment.ErrDamaged, s.Documents(), listed.Documents)
	}
	return s, nil
}

// Damaged reports whether an object is lost or damaged, for repair to see to.
func Damaged(err error) bool {
	return errors.Is(err, segment.ErrDamaged) || errors.Is(err, blob.ErrAbsent)
}

// Dead returns the documents of a listed segment that are dead. The caller may
// change the bitmap. Errors wrap segment.ErrDamaged where the overlay is at
// fault.
func Dead(ctx context.Context, bucket blob.Reader, listed *manifest.Segment) (*roaring.Bitmap, error) {
	if listed.Deletions == nil {
		return roaring.New(), nil
	}
	content, err := bucket.Get(ctx, listed.Deletions.Key, blob.Range{})
	if err != nil {
		return nil, fmt.Errorf("cannot read overlay %s: %w", listed.Deletions.Key, err)
	}
	d, err := segment.DecodeDeletions(content)
	if err == nil && (d.Documents != listed.Documents || int(d.Dead.GetCardinality()) != listed.Deletions.Documents) {
		err = fmt.Errorf("%w: it speaks of %d dead of %d documents, and the manifest of %d of %d",
			segment.ErrDamaged, d.Dead.GetCardinality(), d.Documents, listed.Deletions.Documents, listed.Documents)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read overlay %s: %w", listed.Deletions.Key, err)
	}
	return d.Dead, nil
}

// Put stores a segment under a key that may be listed, and returns what a
// generation says of it but for its parts.
//
// The same documents, indexed or merged again, give the very bytes of an
// earlier segment, the key of which may be condemned, or the stored bytes of
// which may be damaged. No commit may list a condemned key, so that the sweep
// can delete it at any time and without looking. Such a segment is given the
// number of the generation that it is built on, which makes bytes of its own:
// of every later generation, others.
func Put(ctx context.Context, bucket blob.Bucket, current *manifest.Manifest, content []byte) (manifest.Segment, error) {
	opened, err := segment.OpenBytes(content)
	if err != nil {
		return manifest.Segment{}, fmt.Errorf("cannot read back what was built: %w", err)
	}
	for range 2 {
		key := layout.SegmentKey(current.Partition, layout.ContentHash(content))
		if current.IsCondemned(key) {
			err = fmt.Errorf("cannot put segment %s: it is condemned", key)
		} else if err = blob.CreateOnce(ctx, bucket, key, content); err == nil {
			tail, err := segment.TailOf(content)
			return manifest.Segment{Key: key, Bytes: int64(len(content)), Tail: tail, Documents: opened.Documents()}, err
		} else if err = fmt.Errorf("cannot put segment %s: %w", key, err); !errors.Is(err, blob.ErrExists) {
			break
		}
		content = segment.Distinct(content, current.Generation)
	}
	return manifest.Segment{}, err
}
