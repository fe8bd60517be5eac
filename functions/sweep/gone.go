package sweep

import (
	"context"
	"errors"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// mask marks the documents of a storage partition's gone pages as dead, so that searches do not find
// them. It is the step of the sweep that a task.Mask asks for.
func (f *Function) mask(ctx context.Context, id layout.Partition) error {
	inForce, err := f.published.Read(ctx, f.Bucket, f.Now())
	if err != nil {
		return err
	}
	p, err := f.open(ctx, id)
	if err != nil {
		return err
	}
	p.settings = inForce
	return p.maskGone(ctx)
}

// maskGone masks the documents of gone pages in all listed segments, if their versions are earlier
// than that of the outcome by which the page is gone. Then it marks these pages as Masked in the
// manifest. It also calls compare, which masks such documents in other partitions.
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

// dropGone removes from the manifest's list of gone pages those pages that need not be listed any
// more, because no earlier version of them has a live document, or can get one. That is so if
//
//   - the page is marked as Masked;
//   - every package is indexed; and
//   - every batch from before the page was found gone is packed or closed.
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

// isOver returns a function that reports whether a gone page need not be listed any more, because
// it meets the conditions in the comment of dropGone. m is the manifest that lists the page.
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
