package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// ErrNoPage means that no page is stored for an address.
var ErrNoPage = errors.New("no page is stored for this address")

// Copy is a stored page. It need not be the latest version at its address: see Unread and Gone.
type Copy struct {
	webobject.Object
	// errors of books and manifests that cannot be read; one of these might list a newer copy of the page
	Unread []error
	// if the page has gone since the copy was stored, the outcome of the request that found this; else nil
	Gone *book.Outcome
}

// NoPage is the error that no page is stored for an address (the field URL). If this address redirects
// to another one, or its page names another one as canonical, the field To is that other address.
type NoPage struct{ URL, To string }

// Error implements error.
func (n *NoPage) Error() string {
	if n.To == "" {
		return n.URL + ": " + ErrNoPage.Error()
	}
	return n.URL + ": " + ErrNoPage.Error() + ", which leads to " + n.To
}

// Unwrap returns ErrNoPage, so that errors.Is recognises the error as that.
func (n *NoPage) Unwrap() error { return ErrNoPage }

// Page returns the stored page of an address as it was at the time in the parameter moment, or as
// it is now if moment is zero. It looks the page up in the index. If it does not find the page
// there, because the page is not indexed or its segment cannot be used, it looks in the books, the
// records of the crawl. It reads the page itself by one ranged GET.
//
// The page may have been gone from its address by that time. As long as its copy is stored, Page
// returns the copy even then, with Copy.Gone. The error is
//
//	ErrNoPage               no copy is stored, or the page is forgotten today
//	manifest.ErrNotKept     a copy was stored at that time, but has been deleted since
//	*Lost                   no copy is found, and generations that may list one are lost
//
// Copy.Unread is set even with an error.
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
		return e.report(ctx, page), e.unlessLost(ctx, current.generations, a, err)
	}
	if moment.IsZero() {
		e.snapshots.outdate(current) // the manifests are older than a grace: an object that they list has been deleted
	}
	newest, err := e.snapshots.get(ctx, e)
	if err != nil {
		return Copy{}, err
	}
	if moment.IsZero() {
		current = newest
	}
	page, err = e.page(ctx, current, newest.manifests, a)
	return e.report(ctx, page), e.unlessLost(ctx, current.generations, a, past(err, a, moment))
}

// unlessLost returns a *Lost in place of ErrNoPage if it is not certain that no copy of the page is
// stored. This is so if a partition that may hold the page has no generation (version of the
// manifest) that can be read. In all other cases unlessLost returns err unchanged.
//
// Damaged books, and partitions of which only an earlier generation can be read, do not lead to a
// *Lost: Copy.Unread names them.
func (e *Engine) unlessLost(ctx context.Context, at generations, a address.Address, err error) error {
	if !errors.Is(err, ErrNoPage) || len(at.faults) == 0 {
		return err
	}
	inForce, errSettings := e.Settings.Get(ctx)
	if errSettings != nil {
		return errSettings
	}
	if lost := at.lost(inForce.Holding(a)); lost != nil {
		return lost
	}
	return err
}

// refuse returns ErrNoPage if a takedown covers the address, else nil.
func (e *Engine) refuse(ctx context.Context, a address.Address) error {
	inForce, err := e.Settings.Get(ctx)
	if err == nil && inForce.Takedowns.Hidden().Forgets(a) {
		err = noPage(a)
	}
	return err
}

// page looks a page up in the index of a snapshot, or else in the books (the records of the crawl)
// that the snapshot lists. Then it reads the page from its package. The package may have another
// key now than in the snapshot, because erasing pages changes the key. The newest manifests (the
// parameter names) tell the present key.
func (e *Engine) page(ctx context.Context, at *snapshot, names []manifest.Manifest, a address.Address) (Copy, error) {
	d, found, err := at.index.Lookup(ctx, a.ID)
	if err == nil && found {
		page, err := readPage(ctx, e.bucket, a, currentKey(names, d.Package), webobject.Place{Offset: d.Offset, Length: d.Length})
		return Copy{Object: page}, err
	}
	return pageInBooks(ctx, e.bucket, at.manifests, names, a, at.takedowns)
}

func (e *Engine) report(ctx context.Context, page Copy) Copy {
	for _, err := range page.Unread {
		e.Log.ErrorContext(ctx, "a book or generation is missing from the look for stored pages: repair it by bucketsearch verify --repair", "error", err)
	}
	return page
}

// isThere reports whether no object was absent when the page was looked up and read. An absent object
// left a blob.ErrAbsent in c.Unread (errors with which the lookup could go on) or in err (the error
// that ended the lookup or the reading).
func (c Copy) isThere(err error) bool {
	return !errors.Is(errors.Join(append(c.Unread, err)...), blob.ErrAbsent)
}

// past translates an error that occurred when the state of the bucket at a past moment was read. If
// an object is absent, it has been deleted since that moment; past then returns manifest.ErrNotKept.
// It returns any other error unchanged. If the moment is zero, which stands for the present, it
// returns every error unchanged.
func past(err error, a address.Address, moment time.Time) error {
	if !moment.IsZero() && errors.Is(err, blob.ErrAbsent) {
		return fmt.Errorf("%s as of %s: %w", a.URL, moment.UTC().Format(time.RFC3339), manifest.ErrNotKept)
	}
	return err
}

// PageInBooks is like Page, but looks the page up only in the books, the records of the crawl. It
// is for a process that needs only one page, so that opening the index would not pay.
func (e *Engine) PageInBooks(ctx context.Context, a address.Address, moment time.Time) (Copy, error) {
	if err := e.refuse(ctx, a); err != nil {
		return Copy{}, err
	}
	inForce, err := e.Settings.Get(ctx)
	if err != nil {
		return Copy{}, err
	}
	now, err := read(ctx, inForce.Partitions(), func(ctx context.Context, p layout.Partition) (manifest.Manifest, error) {
		return partition.Read(ctx, e.bucket, p)
	})
	if err != nil {
		return Copy{}, err
	}
	at := now
	if !moment.IsZero() {
		if at, err = e.pastGenerations(ctx, inForce.Partitions(), moment); err != nil {
			return Copy{}, err
		}
	}
	page, err := pageInBooks(ctx, e.bucket, at.manifests, now.manifests, a, inForce.Takedowns.Hidden())
	return e.report(ctx, page), e.unlessLost(ctx, at, a, past(err, a, moment))
}

func noPage(a address.Address) error { return &NoPage{URL: a.URL} }

// pageInBooks looks an address up in the books (records of the crawl) that the parameter manifests
// lists, and reads the page stored there. It leaves out books that cannot be read. The parameter
// names has the newest manifests, which list the present keys of packages. If no page is stored,
// the error names the URL to which the address leads, unless a takedown covers that URL.
func pageInBooks(ctx context.Context, bucket blob.Reader, manifests, names []manifest.Manifest, a address.Address, forgotten takedown.Set) (Copy, error) {
	books, unread, err := openBooks(ctx, bucket, manifests)
	if err != nil {
		return Copy{}, err
	}
	standing, err := standingIn(ctx, books, a)
	if err != nil {
		return Copy{}, err
	}
	unread = append(unread, books.Damaged()...)
	last := standing.Page
	if last == nil || last.State != book.Stored {
		none := &NoPage{URL: a.URL}
		if standing.Final != nil {
			none.To = membership.LeadsTo(*standing.Final)
			if forgotten.ForgetsURL(none.To) {
				none.To = ""
			}
		}
		return Copy{Unread: unread}, none
	}
	page, err := readPage(ctx, bucket, a, currentKey(names, last.Package), webobject.Place{Offset: last.Offset, Length: last.Length})
	found := Copy{Object: page, Unread: unread}
	if standing.Gone() {
		found.Gone = standing.Final
	}
	return found, err
}

// openBooks opens the books (records of the crawl) that the manifests list. If the newest
// generation (version) of a manifest is lost, an earlier one was read in its place. Such a manifest
// may lack books. The result later has an error for each partition with such a manifest.
func openBooks(ctx context.Context, bucket blob.Reader, manifests []manifest.Manifest) (books *partition.Books, later []error, err error) {
	var listed []manifest.Book
	for _, m := range manifests {
		listed = append(listed, m.Books...)
		if lost := m.Later(); lost != nil {
			later = append(later, lost)
		}
	}
	books, err = partition.OpenBooks(ctx, bucket, listed)
	return books, later, err
}

// standingIn reads the outcomes of all requests for an address from the books, and returns those
// that determine the present state of the address (see book.Standing).
func standingIn(ctx context.Context, books *partition.Books, a address.Address) (standing book.Standing, err error) {
	outcomes, err := books.Find(ctx, a.Place, a.ID)
	for i := range outcomes {
		standing.Add(&outcomes[i])
	}
	return standing, err
}

// perUnit is the number of bytes of a page whose text one unit of effort extracts (see package effort). So a page
// of 5,000 bytes costs 100 units, about 100 microseconds.
const perUnit = 50

func readPage(ctx context.Context, bucket blob.Reader, a address.Address, key string, place webobject.Place) (webobject.Object, error) {
	page, err := webobject.Read(ctx, bucket, key, place)
	if err == nil && page.URL != a.URL {
		err = fmt.Errorf("byte %d of %s holds %.200q instead of %s", place.Offset, key, page.URL, a.URL)
	}
	if err == nil {
		err = effort.Spend(ctx, len(page.Data)/perUnit)
	}
	if err != nil {
		return webobject.Object{}, err
	}
	return page, nil
}
