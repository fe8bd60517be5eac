package sweep

import (
	"context"
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/segments"
	"github.com/bucketsearch/bucketsearch/functions/task"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Reindex has packages indexed anew, in all partitions: those with documents in
// a segment that was made by another version of the analyzer of any language
// in it, or all when version is nil. It returns how many. Their old segments go
// on serving until each is replaced. Without a Sender the next sweep tells index
// of them. What cannot be read is left out, with an error: repair sees to it.
func (f *Function) Reindex(ctx context.Context, version func(language string) uint32) (packages int, err error) {
	inForce, err := settings.Read(ctx, f.Bucket)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, id := range inForce.Partitions() {
		m, err := manifest.Read(ctx, f.Bucket, id)
		n := 0
		if err == nil {
			p := &partition{Function: f, settings: inForce, id: id, manifest: m}
			n, err = p.reindex(ctx, version)
		}
		packages += n
		errs = append(errs, err)
	}
	return packages, errors.Join(errs...)
}

func (p *partition) reindex(ctx context.Context, version func(string) uint32) (int, error) {
	if version == nil {
		return p.unindex(ctx, func(m *manifest.Manifest) error {
			for i := range m.Packages {
				m.Packages[i].Indexed = false
			}
			return nil
		})
	}
	var unread []error
	stale := make(map[string]bool) // by the segment's key
	for _, s := range p.manifest.Segments {
		opened, err := segments.Open(ctx, segments.Ranges{Bucket: p.Bucket}, &s)
		if segments.Damaged(err) {
			unread = append(unread, err)
			continue
		}
		if err != nil {
			return 0, err
		}
		for language, made := range opened.Analysis() {
			if made != version(language) {
				stale[s.Key] = true
			}
		}
	}
	n, err := p.unindex(ctx, func(m *manifest.Manifest) error {
		return p.replaceAll(ctx, m, func(s *manifest.Segment) bool { return stale[s.Key] })
	})
	return n, errors.Join(append(unread, err)...)
}

// unindex commits an edit that has packages indexed anew, and not what is gone
// of them; it raises their events, and returns how many there are.
func (p *partition) unindex(ctx context.Context, edit func(*manifest.Manifest) error) (int, error) {
	var again []manifest.Package
	gone := goneCache{bucket: p.Bucket}
	err := p.commit(ctx, func(m *manifest.Manifest) error {
		before := slices.Clone(m.Packages)
		if err := edit(m); err != nil {
			return err
		}
		again = nil
		for i, pkg := range m.Packages {
			if before[i].Indexed && !pkg.Indexed {
				again = append(again, pkg)
			}
		}
		if again == nil {
			return manifest.ErrUnchanged
		}
		pages, err := gone.of(ctx, m)
		m.AddGone(pages...)
		return err
	})
	if err != nil {
		return 0, err
	}
	if p.Sender == nil {
		return len(again), nil
	}
	for _, pkg := range again {
		if err := p.raise(ctx, task.Index, blob.Object{Key: pkg.Key, Size: pkg.Bytes}); err != nil {
			return len(again), err
		}
	}
	return len(again), nil
}

// replaceAll, in the edit of a commit, calls all packages not indexed that have
// live documents in some segments. When each is indexed anew, nothing of these
// segments is alive, and they leave the list.
func (p *partition) replaceAll(ctx context.Context, m *manifest.Manifest, which func(*manifest.Segment) bool) error {
	live, err := p.livePackages(ctx, m, which)
	for i := range m.Packages {
		pkg := &m.Packages[i]
		pkg.Indexed = pkg.Indexed && !live[pkg.ID]
	}
	return err
}

// livePackages returns the packages that have live documents in some segments,
// by their identifiers. Where it cannot be read what is dead, nothing is.
func (p *partition) livePackages(ctx context.Context, m *manifest.Manifest, which func(*manifest.Segment) bool) (map[uint32]bool, error) {
	live := make(map[uint32]bool)
	for i := range m.Segments {
		s := &m.Segments[i]
		if !which(s) {
			continue
		}
		dead, err := segments.Dead(ctx, p.Bucket, s)
		if segments.Damaged(err) {
			dead, err = roaring.New(), nil
		}
		if err != nil {
			return nil, err
		}
		from := uint64(0)
		for _, part := range s.Parts {
			to := from + uint64(part.Documents)
			own := roaring.New()
			own.AddRange(from, to)
			from = to
			live[part.Package] = live[part.Package] || own.AndCardinality(dead) < uint64(part.Documents)
		}
	}
	return live, nil
}

// goneCache are the gone pages of a partition, which change when something is
// learnt.
type goneCache struct {
	bucket blob.Reader
	known  bool
	learnt string
	pages  []manifest.Gone
}

func (c *goneCache) of(ctx context.Context, m *manifest.Manifest) (pages []manifest.Gone, err error) {
	if !c.known || c.learnt != m.Learnt {
		c.pages, err = segments.Gone(ctx, c.bucket, m)
		c.known, c.learnt = err == nil, m.Learnt
	}
	return c.pages, err
}
