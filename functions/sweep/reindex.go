package sweep

import (
	"context"
	"errors"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Reindex marks packages of all partitions as not indexed, so that the function index indexes them
// anew, and returns their number. The parameter v is a function that returns the current version of
// a language's analyzer.
//
//	v       packages
//	nil     all
//	set     those with live documents in a segment that another version of an analyzer built
//
// The old segments answer queries until they are replaced. If there is no Sender, the next sweep
// sends the messages to index. Damaged segments and manifests are left out and returned as errors:
// repair has to mend them.
func (f *Function) Reindex(ctx context.Context, v func(language string) uint32) (packages int, err error) {
	inForce, err := f.published.Read(ctx, f.Bucket, f.Now())
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, id := range inForce.Partitions() {
		p, err := f.open(ctx, id)
		n := 0
		if err == nil {
			p.settings = inForce
			n, err = p.reindex(ctx, v)
		}
		packages += n
		errs = append(errs, err)
	}
	return packages, errors.Join(errs...)
}

// reindex marks packages of one partition as not indexed, as Reindex does, and returns their
// number.
func (p *swept) reindex(ctx context.Context, v func(string) uint32) (int, error) {
	if v == nil {
		return p.unindex(ctx, func(m *manifest.Manifest) (map[uint32]bool, error) {
			all := make(map[uint32]bool)
			for _, pkg := range m.Packages {
				all[pkg.ID] = true
			}
			return all, nil
		})
	}
	var unread []error
	stale := make(map[string]bool) // by the segment's key
	for _, s := range p.Manifest().Segments {
		opened, err := partition.OpenSegment(ctx, segment.Ranges{Bucket: p.Bucket}, &s)
		if partition.IsDamaged(err) {
			unread = append(unread, err)
			continue
		}
		if err != nil {
			return 0, err
		}
		for language, made := range opened.Analysis() {
			if made != v(language) {
				stale[s.Key] = true
			}
		}
	}
	n, err := p.unindex(ctx, func(m *manifest.Manifest) (map[uint32]bool, error) {
		return segments.LivePackages(ctx, p.Bucket, m, func(s *manifest.Segment) bool { return stale[s.Key] })
	})
	return n, errors.Join(append(unread, err)...)
}

// unindex marks packages as not indexed, in one commit, sends index an event for each, and returns
// their number. The function which chooses the packages: it is called with the manifest, and
// returns their IDs. The same commit lists the gone pages of the partition, so that index makes no
// live documents of them. The old segments leave the manifest when all their packages are indexed
// anew.
func (p *swept) unindex(ctx context.Context, which func(*manifest.Manifest) (map[uint32]bool, error)) (int, error) {
	var again []manifest.Package
	gone := goneCache{bucket: p.Bucket, elsewhere: p.settings.Elsewhere(p.ID())}
	err := p.Commit(ctx, func(e *partition.Edit) error {
		chosen, err := which(e.Manifest())
		if err != nil {
			return err
		}
		again = nil
		for _, pkg := range e.Manifest().Packages {
			if pkg.Indexed && chosen[pkg.ID] {
				again = append(again, pkg)
			}
		}
		if again == nil {
			return partition.ErrUnchanged
		}
		for _, pkg := range again {
			e.SetIndexed(pkg.ID, false)
		}
		pages, err := gone.of(ctx, e.Manifest())
		e.AddGone(pages...)
		return err
	})
	if err != nil {
		return 0, err
	}
	if p.Sender == nil {
		return len(again), nil
	}
	for _, pkg := range again {
		if err := message.Raise(ctx, p.Sender, task.Index, pkg.Key, pkg.Bytes, p.Now()); err != nil {
			return len(again), err
		}
	}
	return len(again), nil
}

// goneCache holds the list of gone pages of a partition. It makes the list anew from the books when
// the field Learnt of the manifest has changed, which happens whenever a book with new outcomes is
// added.
type goneCache struct {
	bucket    blob.Reader
	elsewhere []layout.Partition
	known     bool
	learnt    string
	pages     []manifest.Gone
}

// of returns the gone pages of the partition to which the manifest belongs.
func (c *goneCache) of(ctx context.Context, m *manifest.Manifest) (pages []manifest.Gone, err error) {
	if !c.known || c.learnt != m.Learnt {
		c.pages, err = segments.Gone(ctx, c.bucket, m, c.elsewhere)
		c.known, c.learnt = err == nil, m.Learnt
	}
	return c.pages, err
}
