package index

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// commitment holds what is needed to commit a segment. The commit also masks outdated documents (marks them as
// dead), in this segment and in others.
type commitment struct {
	*Function
	packages []manifest.Package // packages of the pages
	// again is true if the packages are indexed already, and the segment is to replace their present documents.
	// Then a document that is dead in the present segments stays dead.
	again      bool
	unreadable []manifest.Package         // further packages: they cannot be read, and keep their present documents
	pages      []*segments.Page           // pages of the segment, sorted by package
	own        map[layout.Identity]uint32 // number of a page's document in the segment, by the identity of the page
	built      *partition.Segment         // the stored segment; nil if there is no page

	finder *segments.Finder // finds documents of the same pages in other segments
}

func newCommitment(f *Function, pages []*segments.Page, packages ...manifest.Package) *commitment {
	l := &commitment{Function: f, packages: packages, pages: pages, own: make(map[layout.Identity]uint32, len(pages))}
	for i, p := range pages {
		l.own[p.ID] = uint32(i)
	}
	var source segment.Source = segment.Ranges{Bucket: f.Bucket}
	if f.Ranges != nil {
		source = f.Ranges
	}
	l.finder = segments.NewFinder(source, maps.Keys(l.own))
	return l
}

// edit changes the manifest for the commit. It marks the packages as indexed, and lists the segment, if
// there is one. Then it masks outdated documents (marks them as dead). After the commit, at most one
// document of each page in the partition is live: the one of its last version. If the page is gone, no
// document of it is live. edit masks these documents:
//
//	in other segments    documents that were made when these packages were indexed before,
//	                     and documents of earlier versions of their pages
//	in this segment      documents of pages that are gone, or have later versions in other segments;
//	                     if l.again is true, also those that are dead at present
//
// If the package is indexed already or no longer listed, edit returns partition.ErrUnchanged; if
// l.again is true and a package was dealt with meanwhile, partition.ErrStale. It returns
// partition.ErrStale, too, if pages were erased from a package meanwhile, or if the segment was stored
// too long ago to be listed safely, or is condemned (marked for deletion).
func (l *commitment) edit(ctx context.Context, e *partition.Edit) error {
	m := e.Manifest()
	for _, pkg := range l.packages {
		i := slices.IndexFunc(m.Packages, func(listed manifest.Package) bool { return listed.ID == pkg.ID })
		switch {
		case l.again && (i < 0 || !m.Packages[i].Indexed || m.Packages[i].Apart == nil):
			return partition.ErrStale
		case !l.again && (i < 0 || m.Packages[i].Indexed):
			return partition.ErrUnchanged
		case m.Packages[i].Key != pkg.Key:
			return partition.ErrStale
		}
	}
	l.mark(e)
	if l.again && l.built != nil && slices.ContainsFunc(m.Segments, func(s manifest.Segment) bool { return s.Key == l.built.Key }) {
		return nil // no document changes if the documents are made again
	}
	own, alive := l.gone(m), roaring.New()
	var mu sync.Mutex // protects own and alive
	dead, whole, err := segments.Judge(ctx, l.Log, m, func(ctx context.Context, s *manifest.Segment) (*roaring.Bitmap, error) {
		if l.built != nil && s.Key == l.built.Key { // the same segment, listed before: it is masked by own
			return nil, nil
		}
		c, err := l.compare(ctx, s)
		if l.Ranges != nil && partition.IsDamaged(err) { // perhaps only the cached ranges of the segment are damaged
			l.Ranges.Forget(s.Key)
		}
		mu.Lock()
		defer mu.Unlock()
		own.AddMany(c.outdated)
		alive.AddMany(c.alive)
		return c.dead, err
	})
	if err != nil {
		return err
	}
	if l.again && !whole {
		return nil // it is not known which present documents are alive: they stay
	}
	if l.built != nil {
		if l.again {
			alive.Flip(0, uint64(l.built.Documents))
			own.Or(alive)
		}
		if err := e.AddSegment(*l.built, l.parts()...); err != nil {
			return err
		}
		if !own.IsEmpty() {
			dead[l.built.Key] = own
		}
	}
	return e.Mask(ctx, dead)
}

// mark sets the entries of the packages in the manifest: they are indexed. If a package is indexed for the first
// time, mark also sets the field Apart if its documents are to be made again (see segments.Apart).
func (l *commitment) mark(e *partition.Edit) {
	hosts := make(map[string]bool)
	for _, p := range l.pages {
		hosts[start(p.URL, 1)] = true
	}
	for _, pkg := range l.unreadable {
		e.SetApart(pkg.ID, nil)
	}
	for _, pkg := range l.packages {
		e.SetIndexed(pkg.ID, true)
		if l.again {
			e.SetApart(pkg.ID, nil)
		} else {
			e.SetApart(pkg.ID, segments.Apart(len(l.pages), len(hosts)))
		}
	}
}

// parts returns the segment's parts: how many of its documents, in their order, come from which package.
func (l *commitment) parts() (parts []manifest.Part) {
	rest := l.pages
	for len(rest) > 0 {
		i := slices.IndexFunc(l.packages, func(pkg manifest.Package) bool { return pkg.Key == rest[0].Package })
		n := 1
		for n < len(rest) && rest[n].Package == rest[0].Package {
			n++
		}
		parts = append(parts, manifest.Part{Package: l.packages[i].ID, Documents: n})
		rest = rest[n:]
	}
	return parts
}

// comparison is the result of comparing the commitment's segment with another segment.
type comparison struct {
	// documents of the other segment that must be dead after the commit, including those that are dead
	// already; nil if the other segment stays as it is
	dead *roaring.Bitmap
	// documents of the commitment's segment that must be dead, because the other segment has a live document of
	// the same version of the page, or of a later one
	outdated []uint32
	// documents of the commitment's segment that replace live documents of the other segment: both are of the same
	// version of the same page
	alive []uint32
}

// compare decides between the commitment's segment and another segment s of the partition. If both
// have a document of a page, the one with the earlier version must be dead. The documents of the
// commitment's packages in s are replaced: all of them must be dead.
func (l *commitment) compare(ctx context.Context, s *manifest.Segment) (c comparison, err error) {
	replaced := roaring.New()
	for _, pkg := range l.packages {
		from, to, _ := s.Part(pkg.ID)
		replaced.AddRange(uint64(from), uint64(to))
	}
	if !l.again && s.Documents > 0 && int(replaced.GetCardinality()) == s.Documents { // it need not be read, and may be damaged
		return comparison{dead: replaced}, nil
	}
	var rivals []segment.Match
	if l.built != nil {
		if rivals, err = l.finder.Find(ctx, s); err != nil {
			return comparison{}, err
		}
	}
	if len(rivals) == 0 && replaced.IsEmpty() {
		return comparison{}, nil
	}
	dead, err := partition.Dead(ctx, l.Bucket, s)
	if err != nil {
		return comparison{}, err
	}
	for _, r := range rivals {
		doc := l.own[r.ID]
		newer := r.Version.Compare(l.pages[doc].Version)
		switch {
		case dead.Contains(r.Doc):
		case replaced.Contains(r.Doc):
			if newer == 0 {
				c.alive = append(c.alive, doc)
			}
		case newer >= 0:
			c.outdated = append(c.outdated, doc)
		default:
			dead.Add(r.Doc)
		}
	}
	dead.Or(replaced)
	c.dead = dead
	return c, nil
}

// gone returns those documents of the commitment's segment whose pages are gone from the web. Such
// a page was fetched and stored by one request, but a later request did not find it any more.
func (l *commitment) gone(m *manifest.Manifest) *roaring.Bitmap {
	own := roaring.New()
	for _, g := range m.Gone {
		if doc, found := l.own[g.ID]; found && l.pages[doc].Version.Compare(g.Version) < 0 {
			own.Add(doc)
		}
	}
	return own
}

// pageRules decides by the settings of collections which pages may be searched.
type pageRules struct {
	*settings.Settings
	agent string // User-Agent of collections whose settings have none
}

// refused reports whether a page must not be searched: it says noindex, in a robots meta
// element or an X-Robots-Tag header, to the user agent of one of its collections.
func (w pageRules) refused(o webobject.Object, d *document.Document) bool {
	refuses := func(agent string) bool {
		return d.RobotsFor(agent).Add(robots.ParseTag(values(o, "X-Robots-Tag"), agent)).NoIndex
	}
	if len(o.Collections) == 0 {
		return refuses(w.agent)
	}
	return slices.ContainsFunc(o.Collections, func(name string) bool {
		if agent := w.AgentOf(name); agent != "" {
			return refuses(agent)
		}
		return refuses(w.agent)
	})
}

// inLanguage reports whether one of the collections wants pages in the language with the given
// code. A page in an unknown language (the code "") is always wanted, and so is a page without
// collections.
func (w pageRules) inLanguage(collections []string, code string) bool {
	if code == "" || len(collections) == 0 {
		return true
	}
	return slices.ContainsFunc(collections, func(name string) bool {
		wanted := w.Collection(name).Language
		return wanted == "" || wanted == code
	})
}
