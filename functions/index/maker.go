package index

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// maker makes documents of the pages of packages.
type maker struct {
	bucket    blob.Reader
	forgotten takedown.Set
	rules     pageRules
}

// read makes drafts of the pages in a package, except assets and forgotten pages. Of each host it reads
// at most as many pages as the quota says, the first ones in the package, and reduces the quota by
// their number.
func (m maker) read(ctx context.Context, key string, wanted quota) ([]*draft, error) {
	content, err := m.bucket.Get(ctx, key, blob.Range{})
	if err != nil {
		return nil, err
	}
	reader, err := webobject.Open(content)
	if err != nil {
		return nil, err
	}
	objects := reader.Objects()
	if wanted != nil {
		objects = reader.Select(wanted.wants)
	}
	var pages []*draft
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for entry, err := range objects {
		if err != nil {
			_ = group.Wait()
			return nil, err
		}
		if ctx.Err() != nil {
			break
		}
		if m.forgotten.ForgetsURL(entry.Object.URL) || document.IsAsset(entry.Object.MIME) {
			continue
		}
		wanted.take(entry.Object.URL)
		p := new(draft)
		pages = append(pages, p)
		group.Go(func() error {
			var err error
			*p, err = extractor{m.rules, document.Stored}.page(ctx, key, entry)
			return err
		})
	}
	return pages, cmp.Or(group.Wait(), ctx.Err())
}

// finish makes the documents of a segment from drafts. The documents are sorted by package, in the order in which
// the packages first occur in the drafts. Those of one package are sorted by site and URL, so that similar pages
// are neighbours: this compresses well, and keeps the hits of a query close together. The drafts are changed, and
// must not be used afterwards.
//
//	versions of a page, except the last                 are left out
//	pages without text, or that may not be searched     become documents without words
//	text that a site repeats, such as menus             is moved out of the main parts of documents
//	the day when a site was deployed                    is not taken for a page's own date
//	forgotten images                                    are left out
//
// What a site repeats is learnt from the drafts and from the witnesses. These are further pages, of which finish
// makes no documents.
func (m maker) finish(drafts, witnesses []*draft) []*segments.Page {
	order := make(map[string]int) // place of each package, by its key
	for _, p := range drafts {
		if _, found := order[p.Package]; !found {
			order[p.Package] = len(order)
		}
	}
	pages := newest(drafts)
	own := make(map[layout.Identity]bool, len(pages))
	for _, p := range pages {
		own[p.ID] = true
	}
	all := slices.DeleteFunc(newest(witnesses), func(p *draft) bool { return own[p.ID] })
	all = append(all, pages...)
	sortBySite(all)
	moveRepeated(all)
	dropRepeatedImages(all)
	dropSharedDates(all)
	slices.SortStableFunc(pages, func(a, b *draft) int { return cmp.Compare(order[a.Package], order[b.Package]) })
	documents := make([]*segments.Page, len(pages))
	for i, p := range pages {
		if !m.forgotten.Empty() {
			p.Images = slices.DeleteFunc(p.Images, func(image segment.Image) bool { return m.forgotten.ForgetsURL(image.URL) })
		}
		documents[i] = &p.Page
	}
	return documents
}

// newest returns the drafts sorted by site and URL, without those of which there is a later version.
func newest(drafts []*draft) []*draft {
	sortBySite(drafts)
	return slices.CompactFunc(drafts, func(a, b *draft) bool { return a.ID == b.ID })
}

// sortBySite sorts drafts by site and URL, and the versions of a page from the last to the first.
func sortBySite(drafts []*draft) {
	slices.SortStableFunc(drafts, func(a, b *draft) int {
		return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.URL, b.URL), b.Version.Compare(a.Version))
	})
}
