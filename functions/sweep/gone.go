package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

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

// maskGone commits that no document of the pages that are gone is alive in any
// segment. Of segments that are listed later index and merge see to that; of
// other partitions, compare.
func (p *swept) maskGone(ctx context.Context) error {
	told, failed := p.compare(ctx)
	unmasked := make(latest)
	for _, g := range p.Manifest().Gone {
		if !g.Masked {
			unmasked.add(g.ID, g.Version)
		}
	}
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

// dropGone shortens the list of gone pages: an entry is of no more use when no
// document of an earlier version is alive, and none will be made: every package
// is indexed, and no batch is to be packed that was given out before the page
// was found to be gone. Who has packages indexed once more lists their gone
// pages again.
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

// isOver tells which gone pages need not be listed any more.
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

// comparedAtOnce is how many documents are compared at most in one sweep,
// beyond those of one segment: 32 bytes of memory each.
const comparedAtOnce = 1 << 18

// latest are the last known versions of some pages.
type latest map[layout.Identity]layout.Version

func (l latest) add(id layout.Identity, version layout.Version) {
	if known, found := l[id]; !found || known.Compare(version) < 0 {
		l[id] = version
	}
}

func (l latest) finder(bucket blob.Reader) *segments.Finder {
	return segments.NewFinder(bucket, func(id layout.Identity) bool { _, found := l[id]; return found })
}

// compare masks documents of moved pages. A storage strategy that sends a site
// to another partition leaves its documents where they are, so that two
// partitions may have one of the same page: of these the later one counts, and
// none of a page that is gone in either.
//
//	here                     elsewhere                                     dead
//	a document               an earlier document                           that one
//	a document               a later document, or the page is gone since   this one
//	a page that is gone      an earlier document                           that one
//
// Each segment is compared once, after it is listed, and a page that is gone
// before it counts as masked: so the later one of any two commits sees the
// other. Told is false while that cannot be said of the pages that are gone.
func (p *swept) compare(ctx context.Context) (told bool, err error) {
	elsewhere := p.settings.Elsewhere(p.ID())
	if len(elsewhere) == 0 {
		return true, nil
	}
	here, keys, err := p.uncompared(ctx)
	if err != nil || len(here) == 0 && len(keys) == 0 {
		return err == nil, err
	}
	there, finder, told := make(latest), here.finder(p.Bucket), true
	for _, id := range elsewhere {
		other, err := p.open(ctx, id)
		whole := false
		if err == nil {
			whole, err = other.outdate(ctx, finder, here, there)
		}
		if err != nil {
			return false, fmt.Errorf("cannot compare partition %s with %s: %w", p.ID(), id, err)
		}
		told = told && whole
	}
	if !told {
		keys = nil
	}
	finder = there.finder(p.Bucket)
	err = p.Commit(ctx, func(e *partition.Edit) error {
		dead, _, err := p.earlier(ctx, e.Manifest(), finder, there, nil)
		if err != nil {
			return err
		}
		if !e.MarkCompared(keys...) && len(dead) == 0 {
			return partition.ErrUnchanged
		}
		return e.Mask(ctx, dead)
	})
	return told, err
}

// uncompared returns the versions of the live documents in segments that are
// not compared yet, with the keys of these, and of pages that are gone and not
// masked yet.
func (p *swept) uncompared(ctx context.Context) (here latest, keys []string, err error) {
	here = make(latest)
	for _, g := range p.Manifest().Gone {
		if !g.Masked {
			here.add(g.ID, g.Version)
		}
	}
	all := segments.NewFinder(p.Bucket, func(layout.Identity) bool { return true })
	for _, s := range p.Manifest().Segments {
		if s.Compared || len(here) >= comparedAtOnce {
			continue
		}
		dead, err := partition.Dead(ctx, p.Bucket, &s)
		var documents []segments.Match
		if err == nil {
			documents, err = all.Find(ctx, &s)
		}
		if partition.IsDamaged(err) {
			p.Log.ErrorContext(ctx, "a segment cannot be read, and is not compared with other partitions until it is repaired",
				"partition", p.ID(), "key", s.Key, "error", err)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for _, d := range documents {
			if !dead.Contains(d.Doc) {
				here.add(d.ID, d.Version)
			}
		}
		keys = append(keys, s.Key)
	}
	return here, keys, nil
}

// outdate masks the documents of this partition that are earlier than what is
// known of their pages, and adds to later what this partition knows better.
func (p *swept) outdate(ctx context.Context, finder *segments.Finder, known, later latest) (whole bool, err error) {
	if p.Manifest().Generation == 0 {
		return true, nil
	}
	err = p.Commit(ctx, func(e *partition.Edit) (err error) {
		for _, g := range e.Manifest().Gone {
			if version, found := known[g.ID]; found && version.Compare(g.Version) < 0 {
				later.add(g.ID, g.Version)
			}
		}
		var dead map[string]*roaring.Bitmap
		if dead, whole, err = p.earlier(ctx, e.Manifest(), finder, known, later); err != nil {
			return err
		}
		if len(dead) == 0 {
			return partition.ErrUnchanged
		}
		return e.Mask(ctx, dead)
	})
	return whole, err
}

// earlier returns, for Mask, the documents that are earlier than what is known
// of their pages. It adds to later, if there is one, the versions of those that
// are later. Whole is false where a segment could not be read.
func (p *swept) earlier(ctx context.Context, m *manifest.Manifest, finder *segments.Finder, known, later latest) (dead map[string]*roaring.Bitmap, whole bool, err error) {
	if len(known) == 0 {
		return nil, true, nil
	}
	var mu sync.Mutex // protects later
	return segments.Judge(ctx, p.Log, m, func(ctx context.Context, s *manifest.Segment) (*roaring.Bitmap, error) {
		found, err := finder.Find(ctx, s)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		dead, err := partition.Dead(ctx, p.Bucket, s)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, match := range found {
			switch version := known[match.ID]; {
			case dead.Contains(match.Doc):
			case match.Version.Compare(version) < 0:
				dead.Add(match.Doc)
			case later != nil && match.Version.Compare(version) > 0:
				later.add(match.ID, match.Version)
			}
		}
		if int(dead.GetCardinality()) == s.Dead() {
			return nil, nil
		}
		return dead, nil
	})
}
