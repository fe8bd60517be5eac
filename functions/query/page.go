package query

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// ErrNoPage says that no page is stored for an address.
var ErrNoPage = errors.New("no page is stored for this address")

// Page returns the stored page of an address, read by one ranged GET once its
// place is known. A page that can be searched is found in the index, others,
// and those of a segment that is missing, in the books. It fails with
// ErrNoPage, also for what is forgotten, however old the manifests are.
func (e *Engine) Page(ctx context.Context, a address.Address) (webobject.Object, error) {
	inForce, err := e.Settings.Get(ctx)
	if err != nil {
		return webobject.Object{}, err
	}
	if inForce.Takedowns.Forgets(a) {
		return webobject.Object{}, noPage(a)
	}
	current, err := e.snapshots.get(ctx, e)
	if err != nil {
		return webobject.Object{}, err
	}
	page, err := e.page(ctx, current, a)
	if !errors.Is(err, blob.ErrAbsent) {
		return page, err
	}
	e.snapshots.outdate(current) // deleted a grace after the manifests were read
	if current, err = e.snapshots.get(ctx, e); err != nil {
		return webobject.Object{}, err
	}
	return e.page(ctx, current, a)
}

func (e *Engine) page(ctx context.Context, current *snapshot, a address.Address) (webobject.Object, error) {
	d, found, err := current.index.Lookup(ctx, a.ID)
	if err == nil && found {
		return readPage(ctx, e.bucket, a, currentKey(current.manifests, d.Package), placeOf(d))
	}
	return pageInBooks(ctx, e.bucket, current.manifests, a)
}

// PageInBooks returns the stored page of an address without the index: for
// one who asks once.
func (e *Engine) PageInBooks(ctx context.Context, a address.Address) (webobject.Object, error) {
	inForce, err := e.Settings.Get(ctx)
	if err != nil {
		return webobject.Object{}, err
	}
	if inForce.Takedowns.Forgets(a) {
		return webobject.Object{}, noPage(a)
	}
	manifests, err := newestManifests(ctx, e.bucket, inForce.Partitions())
	if err != nil {
		return webobject.Object{}, err
	}
	return pageInBooks(ctx, e.bucket, manifests, a)
}

// newestManifests reads those of all partitions at once, and nothing else.
func newestManifests(ctx context.Context, bucket blob.Reader, partitions []layout.Partition) ([]manifest.Manifest, error) {
	manifests := make([]manifest.Manifest, len(partitions))
	group, ctx := errgroup.WithContext(ctx)
	for i, p := range partitions {
		group.Go(func() (err error) {
			manifests[i], err = manifest.Read(ctx, bucket, p)
			return err
		})
	}
	return manifests, group.Wait()
}

func noPage(a address.Address) error { return fmt.Errorf("%s: %w", a.URL, ErrNoPage) }

func pageInBooks(ctx context.Context, bucket blob.Reader, manifests []manifest.Manifest, a address.Address) (webobject.Object, error) {
	var keys []string
	for _, m := range manifests {
		for _, listed := range m.Books {
			keys = append(keys, listed.Key)
		}
	}
	outcomes := make([][]book.Outcome, len(keys))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for i, key := range keys {
		group.Go(func() error {
			opened, err := book.Open(within, bucket, key)
			if err != nil {
				return err
			}
			outcomes[i], err = opened.Find(within, a.Place, a.ID)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return webobject.Object{}, err
	}
	var standing book.Standing
	for _, some := range outcomes {
		for i := range some {
			standing.Add(&some[i])
		}
	}
	page := standing.Page
	if page == nil || page.State != book.Stored {
		return webobject.Object{}, noPage(a)
	}
	return readPage(ctx, bucket, a, currentKey(manifests, page.Package), webobject.Place{Offset: page.Offset, Length: page.Length})
}

func placeOf(d segment.Document) webobject.Place {
	return webobject.Place{Offset: d.Offset, Length: d.Length}
}

func readPage(ctx context.Context, bucket blob.Reader, a address.Address, key string, place webobject.Place) (webobject.Object, error) {
	page, err := webobject.Read(ctx, bucket, key, place)
	if err == nil && page.URL != a.URL {
		err = fmt.Errorf("byte %d of %s holds %.200q instead of %s", place.Offset, key, page.URL, a.URL)
	}
	if err != nil {
		return webobject.Object{}, err
	}
	return page, nil
}
