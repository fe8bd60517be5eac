package sweep

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/RoaringBitmap/roaring"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// comparedAtOnce limits how many pages a sweep compares with other partitions at a time. It is no
// exact limit: the sweep takes one segment after another until they have this number of pages or
// more. Each page takes 32 bytes of memory.
const comparedAtOnce = 1 << 18

// latest holds the latest known version of each page, by its identity.
type latest map[layout.Identity]layout.Version

// add records a version of a page unless a later one is known.
func (l latest) add(id layout.Identity, v layout.Version) {
	if known, found := l[id]; !found || known.Compare(v) < 0 {
		l[id] = v
	}
}

// finder returns a Finder of the documents whose pages are in l.
func (l latest) finder(bucket blob.Reader) *segments.Finder {
	return segments.NewFinder(bucket, func(id layout.Identity) bool { _, found := l[id]; return found })
}

// compare masks outdated documents of pages that are in two partitions. When a storage strategy
// moves a site to another partition, the documents of the site are not moved, so that both
// partitions may have documents of one page. compare leaves only the latest document alive, or none
// if the page has become gone since. The parameter gone has the gone pages of this partition that
// are not masked yet.
//
//	this partition           other partition                               masked
//	a document               an earlier document                           the other's
//	a document               a later document, or the page is gone since   this one's
//	a gone page              an earlier document                           the other's
//
// Each segment is compared once after it is listed. The result told says whether all was compared:
// it is false if a segment of another partition could not be read. Then the next sweep compares the
// same segments and gone pages again.
func (p *swept) compare(ctx context.Context, gone latest) (told bool, err error) {
	elsewhere := p.settings.Elsewhere(p.ID())
	if len(elsewhere) == 0 {
		return true, nil
	}
	here, compared, err := p.uncompared(ctx, gone)
	if err != nil || len(here) == 0 && len(compared) == 0 {
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
		compared = nil
	}
	finder = there.finder(p.Bucket)
	err = p.Commit(ctx, func(e *partition.Edit) error {
		dead, _, err := p.earlier(ctx, e.Manifest(), finder, there, nil)
		if err != nil {
			return err
		}
		if !e.MarkCompared(compared...) && len(dead) == 0 {
			return partition.ErrUnchanged
		}
		return e.Mask(ctx, dead)
	})
	return told, err
}

// uncompared chooses the segments to compare now: those that are not marked as compared yet, as
// many as comparedAtOnce allows. The result compared has these segments; here has the latest
// version of each page that has a live document in them or is in the parameter gone. Damaged
// segments are left out.
func (p *swept) uncompared(ctx context.Context, gone latest) (here latest, compared []manifest.Segment, err error) {
	here = maps.Clone(gone)
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
		compared = append(compared, s)
	}
	return here, compared, nil
}

// outdate masks those documents of partition p that are earlier than the version of their page in
// the parameter known. If p has a later version of a page than known, as a document or as gone,
// outdate adds it to the parameter later. The result whole is false if a segment could not be read.
func (p *swept) outdate(ctx context.Context, finder *segments.Finder, known, later latest) (whole bool, err error) {
	if p.Manifest().Generation == 0 {
		return true, nil
	}
	err = p.Commit(ctx, func(e *partition.Edit) (err error) {
		for _, g := range e.Manifest().Gone {
			if v, found := known[g.ID]; found && v.Compare(g.Version) < 0 {
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

// earlier finds outdated documents in m's segments: live documents that are older than the version
// of their page in the parameter known. The parameter finder finds the pages of known in a segment.
// If the parameter later is not nil, earlier adds to it the versions of live documents that are
// newer than the version in known.
//
// The result dead has an entry for each segment with outdated documents, by the segment's key. The
// entry has all documents of the segment that are to be dead: the outdated ones, and those that are
// dead already. The result whole is false if a segment could not be read.
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
			switch v := known[match.ID]; {
			case dead.Contains(match.Doc):
			case match.Version.Compare(v) < 0:
				dead.Add(match.Doc)
			case later != nil && match.Version.Compare(v) > 0:
				later.add(match.ID, match.Version)
			}
		}
		if int(dead.GetCardinality()) == s.Dead() {
			return nil, nil
		}
		return dead, nil
	})
}
