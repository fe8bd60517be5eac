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
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// comparedAtOnce limits how many pages of a partition one sweep compares with other partitions. The
// sweep takes whole segments, one by one, until they have at least so many pages together. Each
// page takes 32 bytes of memory.
const comparedAtOnce = 1 << 18

// latest maps the identity of a page, the hash of its URL, to the latest version that is known of
// the page.
type latest map[layout.Identity]layout.Version

// add records a version of a page unless a later one is known.
func (l latest) add(id layout.Identity, v layout.Version) {
	if known, found := l[id]; !found || known.Compare(v) < 0 {
		l[id] = v
	}
}

// finder returns a Finder that finds the documents of the pages in l.
func (l latest) finder(bucket blob.Reader) *segments.Finder {
	return segments.NewFinder(segment.Ranges{Bucket: bucket}, maps.Keys(l))
}

// compare compares this partition with all others, and masks (marks as dead) outdated documents.
// When a storage strategy moves a site to another partition, the documents of the site are not
// moved, so that two partitions may have documents of one page. Only the document of the latest
// version may stay alive. If the page was found gone from the web after that version, no document
// may. The parameter gone has the gone pages of this partition whose documents are not masked yet.
//
//	this partition has   another partition has                     masked
//	a document           an earlier document                       the document there
//	a document           a later document                          the document here
//	a document           a later entry in its list of gone pages   the document here
//	a gone page          an earlier document                       the document there
//
// Each segment is compared once, and then marked as compared. The result told says whether
// everything was compared. It is false if a segment of another partition could not be read. Then no
// segment is marked, and the next sweep compares the same segments and gone pages again.
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

// uncompared chooses what the sweep next compares with other partitions: segments of this partition
// that are not marked as compared yet. It takes segments until they have at least comparedAtOnce
// pages together, and leaves out damaged ones. The result compared has these segments. The result
// here has the latest version of each page with a live document in them, and also of each page in
// the parameter gone.
func (p *swept) uncompared(ctx context.Context, gone latest) (here latest, compared []manifest.Segment, err error) {
	here = maps.Clone(gone)
	for _, s := range p.Manifest().Segments {
		if s.Compared || len(here) >= comparedAtOnce {
			continue
		}
		dead, err := partition.Dead(ctx, p.Bucket, &s)
		var documents []segment.Match
		if err == nil {
			documents, err = segments.All(ctx, p.Bucket, &s)
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

// outdate compares partition p with another partition. The parameter known has the latest versions
// of pages in that partition. If known has a later version of a page than p, outdate masks (marks
// as dead) the documents of the page in p. If p has a later version, outdate adds this version to
// the parameter later. A version in p is that of a document, or that of an entry in the list of
// pages that are gone from the web. The result whole is false if a segment could not be read.
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

// earlier compares the documents in the segments of a manifest with other versions of their pages.
// The parameter known has these versions, one for each page. The parameter finder must find the
// documents of the pages in known. A live document is outdated if its version is lower than that in
// known. If its version is higher, and later is not nil, earlier adds this version to later.
//
// The result dead has an entry for each segment with outdated documents, by the segment's key: the
// set of its documents that are outdated or dead already. The result whole is false if a segment
// could not be read.
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
