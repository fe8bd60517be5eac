package index

import (
	"context"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// commitment holds what the commit of one package's segment needs. The commit also masks outdated
// documents (marks them as dead), in this segment and in others.
type commitment struct {
	*Function
	pkg   manifest.Package
	pages []*segments.Page
	own   map[layout.Identity]uint32 // number of a page's document in the segment, by the identity of the page
	built *partition.Segment         // segment of the package; nil if the package has no page

	finder *segments.Finder // finds the documents in other segments whose pages are also in this package
}

func newCommitment(f *Function, pkg manifest.Package, pages []*segments.Page) *commitment {
	l := &commitment{Function: f, pkg: pkg, pages: pages, own: make(map[layout.Identity]uint32, len(pages))}
	for i, p := range pages {
		l.own[p.ID] = uint32(i)
	}
	l.finder = segments.NewFinder(f.Bucket, func(id layout.Identity) bool { _, found := l.own[id]; return found })
	return l
}

// edit changes the manifest for the commit. It marks the package as indexed, and lists the
// package's segment, if there is one. Then it masks outdated documents (marks them as dead). After
// the commit, at most one document of each page in the partition is live: the one of its last
// version. If the page is gone, no document of it is live. edit masks these documents:
//
//	in other segments    documents that were made when this package was indexed before,
//	                     and documents of earlier versions of its pages
//	in this segment      documents of pages that are gone, or have later versions in other segments
//
// If the package is indexed already or no longer listed, edit returns partition.ErrUnchanged. It
// returns partition.ErrStale if pages were erased from the package meanwhile, or if the segment was
// stored too long ago to be listed safely, or is condemned (marked for deletion).
func (l *commitment) edit(ctx context.Context, e *partition.Edit) error {
	m := e.Manifest()
	i := slices.IndexFunc(m.Packages, func(listed manifest.Package) bool { return listed.ID == l.pkg.ID })
	switch {
	case i < 0 || m.Packages[i].Indexed:
		return partition.ErrUnchanged
	case m.Packages[i].Key != l.pkg.Key:
		return partition.ErrStale
	}
	e.SetIndexed(l.pkg.ID, true)
	own := l.gone(m)
	var mu sync.Mutex // protects own
	dead, _, err := segments.Judge(ctx, l.Log, m, func(ctx context.Context, s *manifest.Segment) (*roaring.Bitmap, error) {
		if l.built != nil && s.Key == l.built.Key { // the same segment, listed before: it is masked by own
			return nil, nil
		}
		others, ours, err := l.compare(ctx, s)
		mu.Lock()
		defer mu.Unlock()
		own.AddMany(ours)
		return others, err
	})
	if err != nil {
		return err
	}
	if l.built != nil {
		if err := e.AddSegment(*l.built, manifest.Part{Package: l.pkg.ID, Documents: l.built.Documents}); err != nil {
			return err
		}
		if !own.IsEmpty() {
			dead[l.built.Key] = own
		}
	}
	return e.Mask(ctx, dead)
}

// compare decides between the commitment's segment and another segment s of the partition. If both
// have a document of a page, the one with the earlier version must be dead. The results are
//
//	others   all documents of s that must be dead after the commit, including those that are dead
//	         already; nil if s stays as it is
//	ours     documents of the commitment's segment that must be dead, because s has a live document
//	         of the same or a later version
func (l *commitment) compare(ctx context.Context, s *manifest.Segment) (others *roaring.Bitmap, ours []uint32, err error) {
	from, to, replaced := s.Part(l.pkg.ID)
	if replaced && to-from == s.Documents { // all of it is replaced; it need not be read, and may be damaged
		dead := roaring.New()
		dead.AddRange(0, uint64(s.Documents))
		return dead, nil, nil
	}
	var rivals []segments.Match
	if l.built != nil {
		if rivals, err = l.finder.Find(ctx, s); err != nil {
			return nil, nil, err
		}
	}
	if len(rivals) == 0 && !replaced {
		return nil, nil, nil
	}
	dead, err := partition.Dead(ctx, l.Bucket, s)
	if err != nil {
		return nil, nil, err
	}
	dead.AddRange(uint64(from), uint64(to))
	for _, r := range rivals {
		doc := l.own[r.ID]
		switch {
		case dead.Contains(r.Doc):
		case r.Version.Compare(l.pages[doc].Version) >= 0:
			ours = append(ours, doc)
		default:
			dead.Add(r.Doc)
		}
	}
	return dead, ours, nil
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
