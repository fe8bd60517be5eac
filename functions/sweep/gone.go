package sweep

import (
	"context"
	"errors"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// mask handles a task.Clean with the field Gone. It marks as dead those documents in one storage partition whose pages
// are gone from the web, so that searches do not find them. A complete sweep does the same, among
// other things.
func (f *Function) mask(ctx context.Context, s *settings.Settings, id layout.Partition) error {
	p, err := f.open(ctx, id)
	if err != nil {
		return err
	}
	p.settings = s
	return p.maskGone(ctx)
}

// maskGone masks (marks as dead) the documents of pages that are gone from the web, in all segments
// of the partition. A document that is newer than the request that found its page gone stays alive.
// maskGone also calls compare, which masks documents of these pages in other partitions. If all
// segments could be read, it marks the gone pages as Masked in the manifest.
func (p *swept) maskGone(ctx context.Context) error {
	unmasked := make(latest) // pages that become gone from now on are masked by the next sweep
	for _, g := range p.Manifest().Gone {
		if !g.Masked {
			unmasked.add(g.ID, g.Version)
		}
	}
	told, failed := p.compare(ctx, unmasked)
	if len(unmasked) == 0 {
		return failed
	}
	finder := unmasked.finder(p.Bucket)
	documents := uint64(0)
	err := p.Commit(ctx, func(e *partition.Edit) error {
		documents = 0
		m := e.Manifest()
		gone := make(latest)
		for _, g := range m.Gone {
			if _, found := unmasked[g.ID]; found {
				gone.add(g.ID, g.Version)
			}
		}
		dead, whole, err := p.earlier(ctx, m, finder, gone, nil)
		if err != nil {
			return err
		}
		for i := range m.Segments {
			if d := dead[m.Segments[i].Key]; d != nil {
				documents += d.GetCardinality() - uint64(m.Segments[i].Dead())
			}
		}
		masked := e.MarkMasked(func(g manifest.Gone) bool { return g.Masked || whole && told && unmasked[g.ID] == g.Version })
		if !masked && len(dead) == 0 {
			return partition.ErrUnchanged
		}
		return e.Mask(ctx, dead)
	})
	if err == nil {
		p.Log.InfoContext(ctx, "pages are gone", "partition", p.ID(), "generation", p.Manifest().Generation, "pages", len(unmasked), "documents", documents)
	}
	return errors.Join(failed, err)
}

// dropGone removes a page from the manifest's list of gone pages when searches cannot find an earlier
// version of the page, and will not find one later. That is so if
//
//   - the page is marked as Masked: its earlier documents are dead;
//   - every package is indexed; and
//   - every batch before the one that found the page gone is packed, or is closed, so that it
//     will never be packed.
func (p *swept) dropGone(ctx context.Context) error {
	if len(p.Manifest().Gone) == 0 || slices.IndexFunc(p.Manifest().Gone, p.isOver(p.Manifest())) < 0 {
		return nil
	}
	return p.Commit(ctx, func(e *partition.Edit) error {
		if !e.DropGone(p.isOver(e.Manifest())) {
			return partition.ErrUnchanged
		}
		return nil
	})
}

// isOver returns a function that reports whether a page can be dropped from the manifest's list of
// gone pages. It can be dropped when searches cannot find an earlier version of the page, and will
// not find one later. That is so if the page is marked as Masked, every package is indexed, and every
// batch before the one that found the page gone is packed or closed. (A closed batch is never packed.)
func (p *swept) isOver(m *manifest.Manifest) func(manifest.Gone) bool {
	var waiting []layout.Version
	for _, object := range p.spooled {
		_, batch, err := layout.ParseSpoolKey(object.Key)
		if err == nil && !m.HasConsumed(batch) && !m.IsClosed(batch) {
			waiting = append(waiting, batch)
		}
	}
	indexed := !slices.ContainsFunc(m.Packages, func(pkg manifest.Package) bool { return !pkg.Indexed })
	return func(g manifest.Gone) bool {
		earlier := func(batch layout.Version) bool { return batch.Compare(g.Version) < 0 }
		return indexed && g.Masked && m.IsClosed(g.Version) && !slices.ContainsFunc(waiting, earlier)
	}
}
