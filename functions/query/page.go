package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// ErrNoPage says that no page is stored for an address.
var ErrNoPage = errors.New("no page is stored for this address")

// Copy is a stored page, and what could not be read while it was looked for.
type Copy struct {
	webobject.Object
	Unread []error // of books that are damaged or gone: they may tell of this page, too
}

// Page returns the stored page of an address as it was at a moment, or is for
// the zero time, read by one ranged GET once its place is known. A page that can
// be searched is found in the index, others, and those of a segment that is
// missing, in the books that can be read. It fails with ErrNoPage, also for what
// is forgotten, however old the manifests are, and with manifest.ErrNotKept for
// what was stored then and is not any more. With an error, too, the copy says
// what could not be read.
func (e *Engine) Page(ctx context.Context, a address.Address, moment time.Time) (Copy, error) {
	if err := e.refuse(ctx, a); err != nil {
		return Copy{}, err
	}
	current, err := e.snapshotOf(ctx, moment)
	if err != nil {
		return Copy{}, err
	}
	page, err := e.page(ctx, current, current.manifests, a)
	if page.isThere(err) {
		return e.report(ctx, page), err
	}
	if moment.IsZero() {
		e.snapshots.outdate(current) // deleted a grace after the manifests were read
	}
	newest, err := e.snapshots.get(ctx, e)
	if err != nil {
		return Copy{}, err
	}
	if moment.IsZero() {
		current = newest
	}
	page, err = e.page(ctx, current, newest.manifests, a)
	return e.report(ctx, page), past(err, a, moment)
}

// refuse fails with ErrNoPage for what is forgotten.
func (e *Engine) refuse(ctx context.Context, a address.Address) error {
	inForce, err := e.Settings.Get(ctx)
	if err == nil && inForce.Takedowns.Forgets(a) {
		err = noPage(a)
	}
	return err
}

// page looks up a page in a snapshot. Packages are called as in names.
func (e *Engine) page(ctx context.Context, at *snapshot, names []manifest.Manifest, a address.Address) (Copy, error) {
	d, found, err := at.index.Lookup(ctx, a.ID)
	if err == nil && found {
		page, err := readPage(ctx, e.bucket, a, currentKey(names, d.Package), placeOf(d))
		return Copy{Object: page}, err
	}
	return pageInBooks(ctx, e.bucket, at.manifests, names, a)
}

// report logs what could not be read.
func (e *Engine) report(ctx context.Context, page Copy) Copy {
	for _, err := range page.Unread {
		e.Log.ErrorContext(ctx, "a book is missing from the look for stored pages: repair it by bucketsearch verify --repair", "error", err)
	}
	return page
}

// isThere reports whether nothing of what was to be read is gone.
func (c Copy) isThere(err error) bool {
	return !errors.Is(errors.Join(append(c.Unread, err)...), blob.ErrAbsent)
}

// past says of what is gone that it was there at a moment.
func past(err error, a address.Address, moment time.Time) error {
	if !moment.IsZero() && errors.Is(err, blob.ErrAbsent) {
		return fmt.Errorf("%s as of %s: %w", a.URL, moment.UTC().Format(time.RFC3339), manifest.ErrNotKept)
	}
	return err
}

// PageInBooks is Page without the index: for one who asks once.
func (e *Engine) PageInBooks(ctx context.Context, a address.Address, moment time.Time) (Copy, error) {
	if err := e.refuse(ctx, a); err != nil {
		return Copy{}, err
	}
	inForce, err := e.Settings.Get(ctx)
	if err != nil {
		return Copy{}, err
	}
	names, err := e.newestManifests(ctx, inForce.Partitions())
	if err != nil {
		return Copy{}, err
	}
	manifests := names
	if !moment.IsZero() {
		if manifests, err = e.pastManifests(ctx, inForce.Partitions(), moment); err != nil {
			return Copy{}, err
		}
	}
	page, err := pageInBooks(ctx, e.bucket, manifests, names, a)
	return e.report(ctx, page), past(err, a, moment)
}

// newestManifests reads those of all partitions at once, and nothing else.
func (e *Engine) newestManifests(ctx context.Context, partitions []layout.Partition) ([]manifest.Manifest, error) {
	return manifestsOf(ctx, partitions, func(ctx context.Context, p layout.Partition) (manifest.Manifest, error) {
		return manifest.Read(ctx, e.bucket, p)
	})
}

func noPage(a address.Address) error { return fmt.Errorf("%s: %w", a.URL, ErrNoPage) }

// pageInBooks returns a page by what the books of manifests tell that can be
// read. Packages are called as in names.
func pageInBooks(ctx context.Context, bucket blob.Reader, manifests, names []manifest.Manifest, a address.Address) (Copy, error) {
	var listed []manifest.Book
	for _, m := range manifests {
		listed = append(listed, m.Books...)
	}
	books, err := partition.OpenBooks(ctx, bucket, listed)
	if err != nil {
		return Copy{}, err
	}
	outcomes, err := books.Find(ctx, a.Place, a.ID)
	if err != nil {
		return Copy{}, err
	}
	var standing book.Standing
	for i := range outcomes {
		standing.Add(&outcomes[i])
	}
	unread := books.Damaged()
	last := standing.Page
	if last == nil || last.State != book.Stored {
		return Copy{Unread: unread}, noPage(a)
	}
	page, err := readPage(ctx, bucket, a, currentKey(names, last.Package), webobject.Place{Offset: last.Offset, Length: last.Length})
	return Copy{page, unread}, err
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
