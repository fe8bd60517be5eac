package engine

import (
	"context"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/blob/rangecache"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// imagesAtOnce is the greatest number of images for which stored copies are looked up at the same
// time.
const imagesAtOnce = 8

// hidden returns a function that reports whether a takedown covers a URL, such as that of an image;
// nil if takedowns cover no URL.
func (s *snapshot) hidden() func(url string) bool {
	if s.takedowns.Empty() {
		return nil
	}
	return s.takedowns.ForgetsURL
}

// copies finds the stored copies of the images among the hits. The returned map has the address of
// each such image as its key, and the path at which this server shows the copy as its value (see
// Result.Copies). The copy is that of the given moment.
//
// Images are no documents of the index, so copies looks them up in the snapshot's books (the
// records of the crawl). Only files that were stored as parts of other pages (assets) count. An
// HTML page that is stored at the address of an image is not shown as the image. Books that cannot
// be read are logged.
func (e *Engine) copies(ctx context.Context, at *snapshot, hits []search.Hit, moment time.Time) (map[string]string, error) {
	if len(hits) == 0 || hits[0].Image == nil {
		return nil, nil
	}
	var listed []manifest.Book
	for _, m := range at.manifests {
		listed = append(listed, m.Books...)
	}
	books, err := partition.OpenBooks(ctx, cachedObjects{e.bucket, e.ranges}, listed)
	if err != nil {
		return nil, err
	}
	found := make(map[string]string)
	var mu sync.Mutex // protects found
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(imagesAtOnce)
	fork := meter.NewFork(ctx)
	for _, hit := range hits {
		branch := fork.Branch()
		group.Go(func() error {
			stored, err := at.storedAsset(branch, books, hit.Image.URL)
			if stored != "" {
				mu.Lock()
				defer mu.Unlock()
				found[hit.Image.URL] = CopyAddress(stored, moment)
			}
			return err
		})
	}
	err = group.Wait()
	if damaged := books.Damaged(); len(damaged) > 0 {
		e.report(ctx, Copy{Unread: damaged})
		for _, b := range listed {
			e.ranges.Forget(b.Key) // perhaps only its cached ranges are damaged
		}
	}
	return found, err
}

// cachedObjects reads immutable objects through the cache of ranges. This saves requests when a page
// of results shows many images: each image is looked up in the books (the records of the crawl), and
// often the same parts of the books are needed.
type cachedObjects struct {
	blob.Reader
	ranges *rangecache.Cache
}

// Get implements blob.Reader: it reads the range r of an object through the cache.
func (c cachedObjects) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	contents, err := c.ranges.Read(ctx, key, []blob.Range{r})
	if err != nil {
		return nil, err
	}
	return contents[0], nil
}

// storedAsset returns the address under which an asset, such as an image of a page, is stored: the
// given url, or the address to which it redirects. It returns "" if no copy is stored, or if a
// takedown covers the asset.
func (s *snapshot) storedAsset(ctx context.Context, books *partition.Books, url string) (string, error) {
	for range 2 {
		a, err := address.Parse(url)
		if err != nil || s.takedowns.Forgets(a) { // "" is no address
			return "", nil
		}
		standing, err := standingIn(ctx, books, a)
		if err != nil {
			return "", err
		}
		switch last := standing.Page; {
		case last != nil && last.State == book.Stored && last.Asset:
			return a.URL, nil
		case standing.Final == nil:
			return "", nil
		}
		url = membership.LeadsTo(*standing.Final)
	}
	return "", nil
}

// CopyAddress returns the path on this server of the stored copy of a page or image: the copy of the time
// asOf, or the present copy if asOf is zero.
func CopyAddress(page string, asOf time.Time) string {
	values := url.Values{"url": {page}}
	if !asOf.IsZero() {
		values.Set("asof", asOf.Format(time.RFC3339Nano))
	}
	return "/page?" + values.Encode()
}
