package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// faultyPackage is a package in the manifest that has problems, and the pages in it that have to be
// removed or fetched again.
type faultyPackage struct {
	manifest.Package
	erase  map[int64]bool // offsets of pages to be removed, because each is stored twice
	broken map[int64]bool // offsets of pages that cannot be read
	gone   bool           // the package is missing or cannot be read, and is taken off the manifest
}

// lookAtPackage records how a problem of a package is to be mended:
//
//	problem                                             mended by
//	an outcome names a page that does not exist         fetching the URL again (see takeBack)
//	no outcome names a page of the package              fetching the page's URL again
//	a page is stored twice                              removing one of the copies
//	any other                                           checking the whole package (see mendPackage)
func (m *mending) lookAtPackage(problem verify.Problem) {
	listed := m.Manifest().Package(problem.Key)
	if problem.URL != "" && (problem.Kind == verify.Missing || problem.Kind == verify.Unaccounted) {
		m.takeBack(problem.URL, "its page "+problem.Detail)
		return
	}
	if listed == nil {
		return
	}
	own, known := m.faulty[listed.ID]
	if !known {
		own = &faultyPackage{Package: *listed, erase: make(map[int64]bool), broken: make(map[int64]bool)}
		m.faulty[listed.ID] = own
	}
	if problem.Kind == verify.Double && problem.URL != "" {
		own.erase[problem.Offset] = true
	}
}

// mendPackage mends a faulty package:
//
//	the package has                         mendPackage
//	pages that are damaged or stored twice  replaces it by a new package with the other pages
//	no page that can be read                removes it from the manifest
//	no fault in itself                      corrects the manifest's entry for it
func (m *mending) mendPackage(ctx context.Context, p *faultyPackage) error {
	content, found, err := blob.Find(ctx, m.Bucket, p.Key)
	if err != nil {
		return err
	}
	var reader *webobject.Reader
	if found {
		reader, err = webobject.Open(content)
	}
	if !found || err != nil {
		return m.dropPackage(ctx, p, content, found)
	}
	pages, harmed := 0, false
	for entry, err := range reader.Objects() {
		if entry.URL != "" {
			pages++
		}
		if err != nil {
			harmed = true
			p.broken[entry.Offset] = entry.URL != ""
		}
	}
	left, erased, err := webobject.Erase(content, func(l webobject.Listed) bool { return p.broken[l.Offset] || p.erase[l.Offset] })
	if errors.Is(err, webobject.ErrDamaged) || err == nil && erased == pages && erased > 0 {
		return m.dropPackage(ctx, p, content, true)
	}
	if err != nil {
		return err
	}
	if harmed {
		if err := m.keep(ctx, p.Key, content); err != nil {
			return err
		}
	}
	if !harmed && erased == 0 {
		m.relistPackage(p, int64(len(content)), pages)
		return nil
	}
	return m.replacePackage(ctx, p, left, pages-erased)
}

// dropPackage removes a package from the manifest, because none of its pages can be read, and masks
// its documents (marks them as dead in the index). If the parameter found is true, the package is
// in the bucket, and its bytes (the parameter content) go to quarantine.
func (m *mending) dropPackage(ctx context.Context, p *faultyPackage, content []byte, found bool) error {
	if found {
		if err := m.remove(ctx, p.Key, content); err != nil {
			return err
		}
	}
	p.gone = true
	key := p.Key
	m.edits = append(m.edits, func(ctx context.Context, e *partition.Edit) error { return e.UnlistPackage(ctx, key) })
	m.said = append(m.said, fmt.Sprintf("%s is lost and off the list; its %d pages are fetched again", p.Key, p.Pages))
	return nil
}

// relistPackage corrects the manifest's entry for a package that is not damaged itself. The parameters
// bytes and pages are the true size of the package and the true number of its pages. The corrected
// entry says that the package is not indexed, so that the function index indexes it again.
func (m *mending) relistPackage(p *faultyPackage, bytes int64, pages int) {
	id, sound := p.ID, manifest.Package{Key: p.Key, Bytes: bytes, Pages: pages}
	m.edit(func(e *partition.Edit) { e.RelistPackage(id, sound) })
	m.said = append(m.said, p.Key+" was listed wrongly, and is listed as it is; it is indexed again")
}

// replacePackage stores a new package and lists it in place of a faulty one. The new package has
// the readable pages of the faulty one, at the same offsets. The parameter left has the bytes of
// the new package, and the parameter pages the number of its pages. The new package will be
// indexed; until then the segments made of the faulty one stay in the manifest.
func (m *mending) replacePackage(ctx context.Context, p *faultyPackage, left []byte, pages int) error {
	_, name, err := layout.ParsePackageKey(p.Key)
	if err != nil {
		return err
	}
	name.Collision++
	next, err := m.PutPackage(ctx, name, left, pages)
	if err != nil {
		return err
	}
	id, key := p.ID, p.Key
	m.edits = append(m.edits, func(_ context.Context, e *partition.Edit) error {
		err := e.ReplacePackage(key, next)
		if errors.Is(err, partition.ErrStale) && e.Manifest().Package(key) == nil { // the manifest no longer lists the package
			return nil
		}
		e.SetIndexed(id, false)
		return err
	})
	m.said = append(m.said, fmt.Sprintf("%s is replaced by %s, which keeps its %d sound pages", p.Key, next.Key, pages))
	return nil
}

// mendOverlay mends a lost overlay, an object with data on the documents of segments. If the
// overlay marks dead documents, mendOverlay computes these again for the segments to which the
// overlay belongs. If that fails for a segment, it removes the segment from the manifest, to be
// built again. If the overlay holds ranks, anchors, unvisited URLs or a dictionary, mendOverlay
// removes it from the manifest, and the function rank makes it anew.
func (m *mending) mendOverlay(ctx context.Context, key string) error {
	masks := slices.ContainsFunc(m.Manifest().Segments, func(s manifest.Segment) bool { return s.Deletions != nil && s.Deletions.Key == key })
	ranks := slices.ContainsFunc(m.Manifest().Segments, func(s manifest.Segment) bool {
		return s.Ranks != nil && s.Ranks.Key == key || s.Anchors != nil && s.Anchors.Key == key
	})
	if u := m.Manifest().Unvisited; u != nil && u.Key == key {
		ranks = true
	}
	if d := m.Manifest().Dictionaries; d != nil && slices.ContainsFunc(d.All, func(one manifest.Dictionary) bool { return one.Key == key }) {
		ranks = true
	}
	if !masks && !ranks {
		return nil
	}
	content, found, err := blob.Find(ctx, m.Bucket, key)
	if err != nil {
		return err
	}
	if found {
		if err := m.remove(ctx, key, content); err != nil {
			return err
		}
	}
	if ranks {
		m.edit(func(e *partition.Edit) { e.DropRanks(key) })
		m.said = append(m.said, fmt.Sprintf("%s is lost and off the list; rank makes it anew", key))
		return nil
	}
	m.edits = append(m.edits, func(ctx context.Context, e *partition.Edit) error {
		for _, s := range slices.Clone(e.Manifest().Segments) {
			if s.Deletions == nil || s.Deletions.Key != key {
				continue
			}
			if err := m.maskAnew(ctx, e, s); err != nil {
				m.Log.WarnContext(ctx, "an overlay cannot be made anew, and its segment is", "partition", m.ID(), "key", s.Key, "error", err)
				e.UnlistSegment(s.Key, true)
			}
		}
		return nil
	})
	m.said = append(m.said, fmt.Sprintf("%s is lost, and made anew", key))
	return nil
}

// dropCondemnedList removes a damaged or missing list of condemned objects (objects to be deleted) from the
// manifest. Then no generation has these objects, so the sweep condemns them again.
//
// Other repairs store objects, for which all lists are read (see partition.PutBook). They would fail. So
// dropCondemnedList, which look calls before anything is stored, commits at once.
func (m *mending) dropCondemnedList(ctx context.Context, key string) error {
	damaged, found, err := blob.Find(ctx, m.Bucket, key)
	if err != nil {
		return err
	}
	if found {
		if err := m.keep(ctx, key, damaged); err != nil {
			return err
		}
	}
	err = m.Commit(ctx, func(e *partition.Edit) error { e.DropCondemnedList(key); return nil })
	if err != nil {
		return err
	}
	m.said = append(m.said, key+" was damaged or missing; the sweep finds again what it named as to be deleted")
	return nil
}

// maskAnew finds the dead documents of a segment again, after the overlay that listed them was lost.
// Every document was made of a page, which is stored in a package. maskAnew masks a document (marks it
// as dead) in three cases:
//
//   - The manifest does not list the package any more.
//   - Another segment has live documents made of pages of the same package.
//   - Another segment has a live document of the same page, in the same or a later version.
//
// Some documents were dead for another reason: their page is gone (no longer at its URL) or forgotten.
// maskAnew does not mask them. Searches find them until the sweep masks them again.
func (m *mending) maskAnew(ctx context.Context, e *partition.Edit, s manifest.Segment) error {
	next := e.Manifest()
	documents, err := segments.All(ctx, m.Bucket, &s)
	if err != nil {
		return err
	}
	own := make(map[layout.Identity]segment.Match, len(documents))
	for _, d := range documents {
		own[d.ID] = d
	}
	finder := segments.NewFinder(segment.Ranges{Bucket: m.Bucket}, maps.Keys(own))
	dead := roaring.New()
	masked := func(other *manifest.Segment) bool {
		return other.Key != s.Key && (other.Deletions == nil || other.Deletions.Key != s.Deletions.Key)
	}
	for _, other := range next.Segments {
		if !masked(&other) {
			continue
		}
		rivals, err := finder.Find(ctx, &other)
		if err != nil {
			return err
		}
		gone, err := partition.Dead(ctx, m.Bucket, &other)
		if err != nil {
			return err
		}
		for _, r := range rivals {
			if d := own[r.ID]; !gone.Contains(r.Doc) && r.Version.Compare(d.Version) >= 0 {
				dead.Add(d.Doc)
			}
		}
	}
	served, err := segments.LivePackages(ctx, m.Bucket, next, masked)
	if err != nil {
		return err
	}
	for _, part := range s.Parts {
		listed := slices.ContainsFunc(next.Packages, func(p manifest.Package) bool { return p.ID == part.Package })
		if from, to, _ := s.Part(part.Package); served[part.Package] || !listed {
			dead.AddRange(uint64(from), uint64(to))
		}
	}
	e.Unmask(s.Key)
	return e.Mask(ctx, map[string]*roaring.Bitmap{s.Key: dead})
}

// mendSegment removes a segment from the manifest and has its packages indexed again. If the bytes
// of the segment are sound, it condemns the segment (marks its key for deletion). If they are damaged,
// it deletes the segment at once instead. The reason: a segment's key is a hash of its right bytes, so
// the segment that replaces it may get the same key. A condemned key must not be listed again. If the right
// bytes are of a newer program, mendSegment fails, so that nothing is deleted.
func (m *mending) mendSegment(ctx context.Context, key string) error {
	if !slices.ContainsFunc(m.Manifest().Segments, func(s manifest.Segment) bool { return s.Key == key }) {
		return nil
	}
	content, free, found, err := scratch.Read(ctx, m.Bucket, key, "")
	if err != nil {
		return err
	}
	defer free()
	why, sound := "", found
	if found {
		err := segment.Check(content)
		same := layout.SegmentKey(m.ID(), layout.ContentHash(content)) == key
		if same && errors.Is(err, segment.ErrNewer) {
			return fmt.Errorf("segment %s is left as it is: %w", key, err)
		}
		if err != nil {
			why = " (" + err.Error() + ")"
		}
		if why != "" || !same {
			sound = false
			if err := m.remove(ctx, key, content); err != nil {
				return err
			}
		}
	}
	m.edit(func(e *partition.Edit) { e.UnlistSegment(key, sound) })
	m.said = append(m.said, key+why+" is off the list; it is made anew from its packages")
	return nil
}
