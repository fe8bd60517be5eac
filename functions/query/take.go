package query

import (
	"context"
	"errors"
	"maps"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// take makes a snapshot of manifests, and takes over from last, which may be
// nil, what it has opened. A segment that is damaged or gone is left out, so
// that the others can be searched, and asked for again with each snapshot; it
// is logged when it is missed first.
func (e *Engine) take(ctx context.Context, manifests []manifest.Manifest, inForce *settings.Settings, last *snapshot) (*snapshot, error) {
	forgotten := inForce.Takedowns
	if last == nil {
		last = &snapshot{}
	}
	fresh := &snapshot{
		manifests: manifests, takedowns: forgotten, prices: inForce.Control.Priced(),
		segments: make(map[string]opened), missing: make(map[string]bool),
	}
	var wanted []listed
	for _, m := range manifests {
		for _, s := range m.Segments {
			wanted = append(wanted, listed{s, !forgotten.Empty() && m.Forgotten < forgotten.Version})
		}
	}
	found := make([]*opened, len(wanted))
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	for i, want := range wanted {
		known := last.segments[want.Key]
		group.Go(func() error {
			branch := fork.Branch()
			now, err := e.open(branch, want, forgotten, known)
			if errors.Is(err, segment.ErrDamaged) { // perhaps only as it is cached
				e.forget(want.Segment)
				now, err = e.open(branch, want, forgotten, known)
			}
			switch {
			case err == nil:
				found[i] = &now
			case !unusable(err):
				return err
			case !last.missing[want.Key]:
				e.miss(ctx, want.Key, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, want := range wanted {
		if found[i] == nil {
			fresh.missing[want.Key] = true
			continue
		}
		fresh.segments[want.Key] = *found[i]
	}
	return fresh, fresh.join(e.documents)
}

// join makes the index of what is opened, in the order of the manifests.
func (s *snapshot) join(documents *search.Memory) (err error) {
	var parts []search.Part
	for _, m := range s.manifests {
		for _, listed := range m.Segments {
			if o, found := s.segments[listed.Key]; found {
				parts = append(parts, search.Part{Segment: o.segment, Dead: o.dead})
			}
		}
	}
	s.index, err = search.New(parts, documents)
	return err
}

// lacking returns the snapshot without a segment.
func (s *snapshot) lacking(key string, documents *search.Memory) (*snapshot, error) {
	rest := *s
	rest.segments, rest.missing = maps.Clone(s.segments), maps.Clone(s.missing)
	delete(rest.segments, key)
	rest.missing[key] = true
	return &rest, rest.join(documents)
}

// forget has the cache hold nothing of a segment.
func (e *Engine) forget(s manifest.Segment) {
	e.ranges.Forget(s.Key)
	if s.Deletions != nil {
		e.ranges.Forget(s.Deletions.Key)
	}
}

// unusable reports whether a segment's bytes are at fault, and not the store.
func unusable(err error) bool {
	return errors.Is(err, segment.ErrDamaged) || errors.Is(err, segment.ErrVersion) || errors.Is(err, blob.ErrAbsent) || errors.Is(err, errMemory)
}
