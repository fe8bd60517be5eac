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
// anew, and returns their number. If v is nil, it marks all packages. Otherwise v must return the
// present version of the analyzer of a language. Then Reindex marks the packages of outdated
// segments: those that were built by another version of an analyzer. Packages without live
// documents there are left out.
//
// The old segments answer queries until they are replaced. If there is no Sender, the next sweep
// sends the messages to index. Damaged segments and manifests are left out and returned as errors:
// repair has to mend them.
func (f *Function) Reindex(ctx context.Context, v func(language string) uint32) (packages int, err error) {
	inForce, err := f.inForce(ctx)
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

// reindex marks packages of one partition as not indexed, so that they are indexed anew, and returns
// their number. The parameter v returns the current version of a language's analyzer: reindex marks
// only packages that were indexed by another version. If v is nil, it marks all packages.
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

// unindex makes packages be indexed anew. The parameter which is a function that chooses the
// packages: given the manifest, it returns their IDs. In one commit, unindex marks these packages
// as not indexed. In the same commit it lists the partition's pages that are gone from the web.
// Otherwise the function index would make live documents of them. After the commit, unindex sends
// index an event for each package. It returns the number of packages. An old segment stays in the
// manifest until all its packages are indexed anew.
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

// goneCache holds the list of a partition's pages that are gone from the web. The list is made from
// the books. It is made anew when the manifest's field Learnt has changed, that is, when a book
// with new outcomes was added.
type goneCache struct {
	bucket    blob.Reader
	elsewhere []layout.Partition
	known     bool
	learnt    string
	pages     []manifest.Gone
}

// of returns the partition's pages that are gone from the web. m is the partition's manifest.
func (c *goneCache) of(ctx context.Context, m *manifest.Manifest) (pages []manifest.Gone, err error) {
	if !c.known || c.learnt != m.Learnt {
		c.pages, err = segments.Gone(ctx, c.bucket, m, c.elsewhere)
		c.known, c.learnt = err == nil, m.Learnt
	}
	return c.pages, err
}
