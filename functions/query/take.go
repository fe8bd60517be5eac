package query

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// loaded is a segment in memory.
type loaded struct {
	whole  *segment.Segment
	shown  *segment.Segment // without what is forgotten
	bySite bool             // whether pages of forgotten sites were looked for
}

// take reads the segments that last, which may be nil, does not hold, and
// masks what is forgotten. A segment that is damaged or gone is left out, so
// that the others can be searched, and asked for again with each snapshot; it
// is logged when it is missed first.
func (e *Engine) take(ctx context.Context, manifests []manifest.Manifest, forgotten takedown.Set, last *snapshot) (*snapshot, error) {
	if last == nil {
		last = &snapshot{}
	}
	same := sameGenerations(last.manifests, manifests) && last.takedowns == forgotten.Version
	fresh := &snapshot{
		manifests: manifests, takedowns: forgotten.Version, segments: last.segments, missing: last.missing, index: last.index,
	}
	if same && len(last.missing) == 0 {
		return fresh, nil
	}
	keys, opened, err := e.open(ctx, manifests, forgotten, last)
	if err != nil {
		return nil, err
	}
	fresh.segments, fresh.missing = make(map[string]loaded, len(keys)), make(map[string]bool)
	var shown []*segment.Segment
	for i, key := range keys {
		if opened[i].shown == nil {
			fresh.missing[key] = true
			continue
		}
		fresh.segments[key] = opened[i]
		shown = append(shown, opened[i].shown)
	}
	if !same || len(fresh.missing) != len(last.missing) {
		fresh.index, err = segment.NewIndex(shown)
	}
	return fresh, err
}

// open returns the keys of the segments that are listed, and each of them that
// can be used, else a zero one.
func (e *Engine) open(ctx context.Context, manifests []manifest.Manifest, forgotten takedown.Set, last *snapshot) ([]string, []loaded, error) {
	var keys []string
	var bySite []bool
	for _, m := range manifests {
		for _, listed := range m.Segments {
			keys = append(keys, listed.Key)
			bySite = append(bySite, forgotten.HasSites() && m.Forgotten < forgotten.Version)
		}
	}
	opened := make([]loaded, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for i, key := range keys {
		known := last.segments[key]
		if known.shown != nil && last.takedowns == forgotten.Version && known.bySite == bySite[i] {
			opened[i] = known
			continue
		}
		group.Go(func() (err error) {
			opened[i], err = load(ctx, e.Bucket, key, known.whole, forgotten, bySite[i])
			if !errors.Is(err, blob.ErrAbsent) && !errors.Is(err, segment.ErrDamaged) {
				return err
			}
			if !last.missing[key] {
				e.Log.ErrorContext(ctx, "a segment is missing from all answers until it is built again: bucketsearch verify --repair",
					"segment", key, "error", err)
			}
			return nil
		})
	}
	return keys, opened, group.Wait()
}

// load reads a segment, unless it is in memory, and masks it.
func load(ctx context.Context, bucket blob.Reader, key string, whole *segment.Segment, forgotten takedown.Set, bySite bool) (loaded, error) {
	if whole == nil {
		content, err := bucket.Get(ctx, key, blob.Range{})
		if err != nil {
			return loaded{}, fmt.Errorf("cannot read segment %s: %w", key, err)
		}
		if whole, err = segment.Open(content); err != nil {
			return loaded{}, fmt.Errorf("segment %s: %w", key, err)
		}
	}
	shown, err := mask(whole, forgotten, bySite)
	if err != nil {
		return loaded{}, fmt.Errorf("segment %s: %w", key, err)
	}
	return loaded{whole, shown, bySite}, nil
}

// mask returns the segment without what is forgotten. Sites are looked for
// only where a partition may still hold some of them, because every document
// has to be read for that.
func mask(s *segment.Segment, forgotten takedown.Set, bySite bool) (*segment.Segment, error) {
	if forgotten.Empty() {
		return s, nil
	}
	var hidden []uint32
	for i := range s.Documents() {
		hide := forgotten.ForgetsID(s.Identity(i))
		if !hide && bySite {
			d, err := s.Document(i)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", segment.ErrDamaged, err)
			}
			hide = forgotten.ForgetsPage(d.ID, d.Site)
		}
		if hide {
			hidden = append(hidden, uint32(i))
		}
	}
	if hidden == nil {
		return s, nil
	}
	return s.Without(hidden...), nil
}
