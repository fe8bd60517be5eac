package partition

import (
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Edit is the next generation of a partition, while it is being made. Partition.Commit creates
// an Edit as a copy of the newest generation, and passes it to the function edit, which changes
// it by the methods of Edit.
type Edit struct {
	bucket blob.Bucket
	now    func() time.Time
	next   *manifest.Manifest // the generation being made; next.Generation is still the number of the one it is made from
}

// Manifest returns the generation as edited so far. Its field Generation still has the number of
// the generation that is being edited. The caller must not change it.
func (e *Edit) Manifest() *manifest.Manifest { return e.next }

// Generation returns the number of the generation being made.
func (e *Edit) Generation() uint64 { return e.next.Generation + 1 }

// listable reports whether a stored object may be listed: its ticket t is still valid,
// because it is younger than Fresh, and its key is not condemned.
func (e *Edit) listable(key string, t ticket) bool {
	return e.now().Sub(t.put) < Fresh && !e.next.IsCondemned(key)
}

// AddPackage lists the stored package t. The package gets the next ID, and is marked
// as not yet indexed. AddPackage fails with ErrStale if t's ticket (see ticket) is not
// valid or its key is listed already.
func (e *Edit) AddPackage(t Package) error {
	if !e.listable(t.Key, t.ticket) || e.next.Package(t.Key) != nil {
		return ErrStale
	}
	e.next.Add(t.Package)
	return nil
}

// ReplacePackage lists the package t in place of the package that is listed under the key former,
// and condemns the replaced package. t must have the pages of the replaced package, except erased
// ones, at the same offsets. So books and segments that refer to a page by the former key still
// lead to it. ReplacePackage fails with ErrStale if t's ticket (see ticket) is not valid or no
// package is listed under the former key.
func (e *Edit) ReplacePackage(former string, t Package) error {
	own := e.listed(former)
	if own == nil || !e.listable(t.Key, t.ticket) {
		return ErrStale
	}
	own.Formerly = append(slices.Clone(own.Formerly), own.Key)
	own.Key, own.Bytes, own.Pages = t.Key, t.Bytes, t.Pages
	e.condemn(former)
	return nil
}

// listed returns the listed package that has this key at present; nil if there is
// none. A key that a package had earlier does not count.
func (e *Edit) listed(key string) *manifest.Package {
	if pkg := e.next.Package(key); pkg != nil && pkg.Key == key {
		return pkg
	}
	return nil
}

// SetIndexed records whether the package with this ID is indexed, in the field Indexed
// of its entry. It does nothing if no package with this ID is listed.
func (e *Edit) SetIndexed(id uint32, indexed bool) {
	for i := range e.next.Packages {
		if pkg := &e.next.Packages[i]; pkg.ID == id {
			pkg.Indexed = indexed
		}
	}
}

// AddBook lists the stored book t, unless it is listed already. It fails with ErrStale
// if t's ticket (see ticket) is not valid.
func (e *Edit) AddBook(t Book) error {
	if !e.listable(t.Key, t.ticket) {
		return ErrStale
	}
	if e.book(t.Key) < 0 {
		e.next.Books = append(e.next.Books, t.Book)
	}
	return nil
}

// ReplaceBooks lists the merged book t in place of the books with the former keys, and
// condemns these. It fails with ErrStale if t's ticket (see ticket) is not valid or
// one of the former keys is not listed.
func (e *Edit) ReplaceBooks(former []string, t Book) error {
	if !e.listable(t.Key, t.ticket) {
		return ErrStale
	}
	var err error
	e.next.Books, err = replace(e, e.next.Books, func(b manifest.Book) string { return b.Key }, former, t.Book)
	return err
}

// replace returns the list with one new object, the parameter by, in place of the objects
// with the former keys, and condemns these. The function key returns the key of an object. If
// one of the former keys is not in the list, replace returns the unchanged list and ErrStale.
func replace[T any](e *Edit, list []T, key func(T) string, former []string, by T) ([]T, error) {
	at := len(list)
	for _, k := range former {
		i := slices.IndexFunc(list, func(object T) bool { return key(object) == k })
		if i < 0 {
			return list, ErrStale
		}
		at = min(at, i)
	}
	for _, k := range former {
		if k != key(by) { // equal if the new object has the same bytes as the former one
			e.condemn(k)
		}
	}
	list = slices.DeleteFunc(list, func(object T) bool { return key(object) == key(by) || slices.Contains(former, key(object)) })
	return slices.Insert(list, min(at, len(list)), by), nil
}

// book returns the index of the book with the key in e.next.Books; -1 if there is none.
func (e *Edit) book(key string) int {
	return slices.IndexFunc(e.next.Books, func(b manifest.Book) bool { return b.Key == key })
}

// Learn sets Manifest.Learnt to name, a name that no other commit uses. A frontier records this
// name when the outcomes in the books of this generation have been applied to it. So a frontier
// that has not recorded the name may lack outcomes.
func (e *Edit) Learn(name string) { e.next.Learnt = name }

// Consume adds batches to Manifest.Consumed. If their spool objects could not be read
// and are in quarantine, the parameter damaged says why; it is "" if they were packed.
// Consume fails with ErrStale if one of the batches was consumed or closed before.
func (e *Edit) Consume(damaged string, batches ...layout.Version) error {
	at := e.now().UTC().Truncate(time.Millisecond)
	for _, given := range batches {
		if e.next.HasConsumed(given) || e.next.IsClosed(given) {
			return ErrStale
		}
		e.next.Consumed = append(e.next.Consumed, manifest.Consumed{Batch: given, At: at, Damaged: damaged})
	}
	return nil
}

// Close removes the batches for which the function over returns true from Manifest.Consumed, and
// records them, with all earlier batches of their epochs, in Manifest.Closed. The function over
// must return true only for a batch whose spool object has been deleted already. Close reports
// whether it removed any batch.
func (e *Edit) Close(over func(manifest.Consumed) bool) (changed bool) {
	before := len(e.next.Consumed)
	e.next.Consumed = slices.DeleteFunc(e.next.Consumed, func(c manifest.Consumed) bool {
		closed := over(c)
		if closed {
			e.next.Close(c.Batch)
		}
		return closed
	})
	return len(e.next.Consumed) < before
}

// AddGone records stored pages that have vanished from the web, so that their documents are masked
// (see Manifest.Gone).
func (e *Edit) AddGone(pages ...manifest.Gone) { e.next.AddGone(pages...) }

// DropGone removes the pages for which the function over returns true from Manifest.Gone. The
// function must return true only for a page none of whose documents can become alive again.
// DropGone reports whether it removed any page.
func (e *Edit) DropGone(over func(manifest.Gone) bool) (changed bool) {
	before := len(e.next.Gone)
	e.next.Gone = slices.DeleteFunc(e.next.Gone, over)
	return len(e.next.Gone) < before
}

// MarkMasked sets the field Masked of each page in Manifest.Gone to the result of the
// function masked: whether all documents of the page are dead in all segments. It
// reports whether any field has changed.
func (e *Edit) MarkMasked(masked func(manifest.Gone) bool) (changed bool) {
	for i := range e.next.Gone {
		g := &e.next.Gone[i]
		now := masked(*g)
		changed = changed || now != g.Masked
		g.Masked = now
	}
	return changed
}

// condemn condemns objects that the generation being made does not list.
func (e *Edit) condemn(keys ...string) { e.next.Condemn(e.now(), keys...) }

// CondemnUnlisted condemns the object with each of the keys, unless the generation lists it or it
// is condemned already, and returns the keys of the objects that it has condemned. These objects
// were stored for a commit that never happened; after the grace they are deleted. A committer that
// is still about to list such an object must store it under another key.
func (e *Edit) CondemnUnlisted(keys ...string) (condemned []string) {
	condemned = e.Unlisted(keys...)
	e.condemn(condemned...)
	for i := range condemned {
		e.next.Condemned[len(e.next.Condemned)-1-i].Erase = true
	}
	return condemned
}

// Unlisted returns those of the keys that are neither listed nor condemned.
func (e *Edit) Unlisted(keys ...string) (unlisted []string) {
	known := e.next.Known()
	for _, key := range keys {
		if !known[key] {
			unlisted = append(unlisted, key)
		}
	}
	return unlisted
}

// Collected updates the records in Manifest.Condemned by two functions, and reports
// whether any has changed:
//   - The function deleted returns true for objects that have been deleted: their field Gone is set.
//   - The function over returns true for objects that no process can be about to delete or list
//     any more: their records are removed.
func (e *Edit) Collected(deleted, over func(manifest.Condemned) bool) (changed bool) {
	gone := e.now().UTC().Truncate(time.Millisecond)
	for i := range e.next.Condemned {
		if c := &e.next.Condemned[i]; c.Gone.IsZero() && deleted(*c) {
			c.Gone, changed = gone, true
		}
	}
	before := len(e.next.Condemned)
	e.next.Condemned = slices.DeleteFunc(e.next.Condemned, over)
	return changed || len(e.next.Condemned) < before
}

// KeepFrom sets Manifest.Oldest, the number of the oldest generation that is kept, to the parameter
// oldest, and returns true. If oldest is not higher than the present value, KeepFrom changes
// nothing and returns false.
func (e *Edit) KeepFrom(oldest uint64) (changed bool) {
	if e.next.Oldest >= oldest {
		return false
	}
	e.next.Oldest = oldest
	return true
}

// Forgot records in Manifest.Forgotten that the pages named by this version of the takedowns are
// forgotten, and returns true. No listed package, book or segment may hold such a page any more
// when it is called. If this version or a higher one is recorded already, it changes nothing and
// returns false. Other objects may still hold texts of such pages. These are deleted after the
// grace:
//   - all condemned objects, even if kept generations list them (see Condemned.Erase);
//   - all overlays with anchors, the one with unvisited URLs, and dictionaries: Forgot unlists and
//     condemns them, and resets Manifest.Ranked, so that rank makes them again.
func (e *Edit) Forgot(version uint64) (changed bool) {
	if e.next.Forgotten >= version {
		return false
	}
	e.next.Forgotten = version
	before := e.texts()
	for i := range e.next.Segments {
		e.next.Segments[i].Anchors = nil
	}
	e.next.Unvisited, e.next.Dictionaries, e.next.Ranked = nil, nil, ""
	e.condemnTexts(before)
	e.next.Erase()
	return true
}
