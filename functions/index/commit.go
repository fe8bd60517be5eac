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

// commitment is the commit of one package's segment, with the masks that it needs.
type commitment struct {
	*Function
	pkg   manifest.Package
	pages []*segments.Page
	own   map[layout.Identity]uint32 // number of a page's document in the segment, by the identity of the page
	built *partition.Segment         // segment of the package; nil if the package has no page

	finder *segments.Finder // finds documents of the package's pages in other segments
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
// package's segment, if there is one. Then it masks outdated documents. Afterwards each page of the
// partition has at most one live document, that of its last version, and none if the page is gone.
// Masked are
//
//	documents of other segments      that were made of this package when it was indexed before,
//	                                 or of earlier versions of its pages
//	documents of this segment        whose pages have later versions in other segments, or are gone
//
// If the package is indexed already or no longer listed, edit returns partition.ErrUnchanged. It
// returns partition.ErrStale if pages were erased from the package meanwhile, or if the segment was
// stored too long ago to be listed safely, or is condemned.
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

// compare compares the commitment's segment with another segment, s. It returns which documents are
// to be masked in each of the two:
//
//	others    documents of s, together with those that are dead already; nil if there is nothing to mask
//	ours      documents of the commitment's segment of whose pages s has the same or a later version
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

// gone returns the documents of the commitment's segment whose pages are gone: a request after the
// one that fetched the page has found that it is no longer there.
func (l *commitment) gone(m *manifest.Manifest) *roaring.Bitmap {
	own := roaring.New()
	for _, g := range m.Gone {
		if doc, found := l.own[g.ID]; found && l.pages[doc].Version.Compare(g.Version) < 0 {
			own.Add(doc)
		}
	}
	return own
}

// pageRules decides by the settings which pages may be searched.
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
// code. It returns true, too, for an unknown language (the code "") and for a page without
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
