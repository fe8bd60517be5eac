package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// opened is a segment that can be searched, and what of it is not there.
type opened struct {
	segment   *segment.Segment
	deletions string // key of the overlay that dead was read from; "" for none
	takedowns uint64 // version of what is hidden; 0 for nothing
	dead      *roaring.Bitmap
}

// listed is a segment as a manifest names it.
type listed struct {
	manifest.Segment
	hide bool // what is forgotten may be in it
}

// errMemory says that a segment cannot be held.
var errMemory = errors.New("the memory for caches is too small")

// open reads of a segment what known lacks: its tail and its deletions at
// once, then the columns that tell what is to be hidden, if anything may be.
func (e *Engine) open(ctx context.Context, want listed, forgotten takedown.Set, known opened) (opened, error) {
	now := opened{segment: known.segment}
	if want.Deletions != nil {
		now.deletions = want.Deletions.Key
	}
	if want.hide {
		now.takedowns = forgotten.Version
	}
	if known.segment != nil && known.deletions == now.deletions && known.takedowns == now.takedowns {
		return known, nil
	}
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	if now.segment == nil {
		group.Go(func() (err error) {
			now.segment, err = e.openSegment(fork.Branch(), want)
			return err
		})
	}
	if want.Deletions != nil {
		group.Go(func() (err error) {
			now.dead, err = e.deletions(fork.Branch(), want)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return opened{}, fmt.Errorf("segment %s: %w", want.Key, err)
	}
	if want.hide {
		if err := now.hide(ctx, forgotten); err != nil {
			return opened{}, fmt.Errorf("segment %s: %w", want.Key, err)
		}
	}
	return now, nil
}

// openSegment opens a segment, and has the cache leave it room as long as it is
// held.
func (e *Engine) openSegment(ctx context.Context, want listed) (*segment.Segment, error) {
	s, err := segment.Open(ctx, e.ranges, segment.Ref{Key: want.Key, Bytes: want.Bytes, Tail: want.Tail})
	if err != nil {
		return nil, err
	}
	if !rangecache.Hold(e.ranges, s, s.Size()) {
		return nil, fmt.Errorf("%w for its directory of %d bytes", errMemory, s.Size())
	}
	return s, nil
}

func (e *Engine) deletions(ctx context.Context, want listed) (*roaring.Bitmap, error) {
	content, err := e.ranges.Read(ctx, want.Deletions.Key, []blob.Range{{Length: want.Deletions.Bytes}})
	if err != nil {
		return nil, fmt.Errorf("cannot read deletions %s: %w", want.Deletions.Key, err)
	}
	deletions, err := segment.DecodeDeletions(content[0])
	if err == nil && deletions.Documents != want.Documents {
		err = fmt.Errorf("%w: they are of %d documents, not of %d", segment.ErrDamaged, deletions.Documents, want.Documents)
	}
	if err != nil {
		return nil, fmt.Errorf("deletions %s: %w", want.Deletions.Key, err)
	}
	return deletions.Dead, nil
}

// hide counts as dead what is forgotten. Identities and sites are columns,
// which are read only while a partition may still hold any of it.
func (o *opened) hide(ctx context.Context, forgotten takedown.Set) error {
	ids, err := o.segment.Identities(ctx)
	if err != nil {
		return err
	}
	sites, err := o.segment.Strings(ctx, segment.Sites)
	if err != nil {
		return err
	}
	dead := roaring.New()
	if o.dead != nil {
		dead = o.dead.Clone()
	}
	for doc, id := range ids {
		for _, site := range sites.Get(uint32(doc)) {
			if forgotten.ForgetsPage(id, site) {
				dead.Add(uint32(doc))
			}
		}
	}
	o.dead = dead
	return nil
}
