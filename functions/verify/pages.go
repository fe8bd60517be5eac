package verify

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/document"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// parallelPackages is how many packages are in memory at once.
const parallelPackages = 2

// place is where a page stands.
type place struct {
	pkg    string
	offset int64
}

// page is a page that stands in a package.
type page struct {
	url     string
	version layout.Version
	length  int64
	text    bool // it can be searched
	booked  bool // an outcome says so
	indexed int  // documents that are made of it
}

// packages reads every package whole and returns its pages by place.
func (v *Verifier) packages(ctx context.Context, m *manifest.Manifest) (map[place]*page, error) {
	var mu sync.Mutex
	pages := make(map[place]*page)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelPackages)
	for _, listed := range m.Packages {
		group.Go(func() error {
			content, err := v.Bucket.Get(ctx, listed.Key, blob.Range{})
			if err != nil {
				if ctx.Err() == nil {
					v.problem("package %s cannot be read: %v", listed.Key, err)
				}
				return ctx.Err()
			}
			found, err := read(listed.Key, content)
			if err != nil {
				v.problem("package %s is damaged: %v", listed.Key, err)
			} else if len(found) != listed.Pages {
				v.problem("package %s holds %d pages, and the manifest says %d", listed.Key, len(found), listed.Pages)
			}
			mu.Lock()
			defer mu.Unlock()
			v.report.Packages++
			v.report.Pages += len(found)
			for at, p := range found {
				pages[at] = p
			}
			return nil
		})
	}
	return pages, group.Wait()
}

// read returns the pages of a package up to the first that is damaged.
func read(key string, content []byte) (map[place]*page, error) {
	pages := make(map[place]*page)
	if err := webobject.Verify(content); err != nil {
		return pages, err
	}
	reader, err := webobject.Open(content)
	if err != nil {
		return pages, err
	}
	for entry, err := range reader.Objects() {
		if err != nil {
			return pages, err
		}
		if sha256.Sum256(entry.Object.Data) != entry.Object.Hash {
			return pages, errHash(entry.Object.URL)
		}
		pages[place{key, entry.Place.Offset}] = &page{
			url: entry.Object.URL, version: entry.Object.Version, length: entry.Place.Length,
			text: document.Searchable(entry.Object.Data, entry.Object.MIME),
		}
	}
	return pages, nil
}

type errHash string

func (url errHash) Error() string { return "the content of " + string(url) + " has another hash" }

// books checks that outcomes and pages tell the same story. Books that are lost
// have been reported.
func (v *Verifier) books(ctx context.Context, m *manifest.Manifest, pages map[place]*page) error {
	for _, listed := range m.Books {
		content, err := v.Bucket.Get(ctx, listed.Key, blob.Range{})
		if errors.Is(err, blob.ErrAbsent) {
			continue
		}
		if err != nil {
			return err
		}
		learnt, err := book.Decode(content)
		if err != nil {
			continue
		}
		for _, o := range learnt.Outcomes {
			if o.State != book.Stored {
				continue
			}
			p := pages[place{o.Package, o.Offset}]
			if p == nil || p.url != o.URL || p.version != o.Version || p.length != o.Length {
				v.problem("%s is stored in %s at %d, and is not there", o.URL, o.Package, o.Offset)
				continue
			}
			p.booked = true
		}
	}
	for at, p := range pages {
		if !p.booked {
			v.problem("%s stands in %s at %d, and no outcome says so", p.url, at.pkg, at.offset)
		}
	}
	return nil
}
