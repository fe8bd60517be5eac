package partition

import (
	"context"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Edit is the next generation of a partition, while it is being made. Partition.Commit creates
// an Edit as a copy of the newest generation, and passes it to the caller's function. This function
// calls methods of Edit to change it.
type Edit struct {
	bucket blob.Bucket
	now    func() time.Time
	next   *manifest.Manifest // the generation being made; its number, Generation, is set only by the commit
	spared map[string]bool    // keys that were condemned, and that repair wants to be listable again (see uncondemn)
}

// Manifest returns the generation as edited so far. Its field Generation still has the number of
// the generation from which the new one is made. The caller must not change it.
func (e *Edit) Manifest() *manifest.Manifest { return e.next }

// Generation returns the number of the generation being made.
func (e *Edit) Generation() uint64 { return e.next.Generation + 1 }

// listable reports whether the generation may list a stored object. It may if the object's ticket t is younger
// than Fresh, and its key is not condemned (marked for deletion). The key was not condemned when the ticket was
// made. If it was condemned later, the manifest usually has the record, because only old records are moved to
// lists of condemned objects. But if the ticket was made from an old manifest, a list may have the record. Then
// listable returns false, without reading the list.
func (e *Edit) listable(key string, t ticket) bool {
	newer := func(l manifest.CondemnedList) bool { return l.Since > t.generation }
	return e.now().Sub(t.put) < Fresh && !e.next.IsCondemned(key) && !slices.ContainsFunc(e.next.CondemnedLists, newer)
}

// AddPackage adds the stored package t to the generation's list of packages. The package gets the
// next ID, and is marked as not yet indexed. AddPackage fails with ErrStale if t's ticket (the
// right to list a freshly stored object) is not valid, or if t's key is listed already.
func (e *Edit) AddPackage(t Package) error {
	if !e.listable(t.Key, t.ticket) || e.next.Package(t.Key) != nil {
		return ErrStale
	}
	e.next.Add(t.Package)
	return nil
}

// ReplacePackage lists the stored package t in place of the package with the former key, and
// condemns the latter: it will be deleted. t must have the pages of that package, except erased
// ones, at the same offsets. The former key stays in the entry of t. So a book or segment that names
// a page by this key and an offset still leads to the page. ReplacePackage fails with ErrStale if
// t's ticket (the right to list a freshly stored object) is not valid, or if no package is listed
// under the former key.
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

// SetApart sets the field Apart of the entry of the package with this ID. It does nothing if no
// package with this ID is listed.
func (e *Edit) SetApart(id uint32, apart *manifest.Apart) {
	for i := range e.next.Packages {
		if pkg := &e.next.Packages[i]; pkg.ID == id {
			pkg.Apart = apart
		}
	}
}

// AddBook adds the stored book t to the generation's list of books, unless it is there already. It
// fails with ErrStale if t's ticket (the right to list a freshly stored object) is not valid.
func (e *Edit) AddBook(t Book) error {
	if !e.listable(t.Key, t.ticket) {
		return ErrStale
	}
	if e.book(t.Key) < 0 {
		e.next.Books = append(e.next.Books, t.Book)
	}
	return nil
}

// ReplaceBooks lists the merged book t in place of the books with the former keys. It condemns the
// former books: they will be deleted. It fails with ErrStale if t's ticket (the right to list a
// freshly stored object) is not valid, or if one of the former keys is not listed.
func (e *Edit) ReplaceBooks(former []string, t Book) error {
	if !e.listable(t.Key, t.ticket) {
		return ErrStale
	}
	var err error
	e.next.Books, err = replace(e, e.next.Books, func(b manifest.Book) string { return b.Key }, former, t.Book)
	return err
}

// replace takes the objects with the former keys off a list, and puts one new object (the last
// parameter) in their place. It returns the new list, and condemns the former objects (marks them
// for deletion). It finds the key of an object by its third parameter, a function. If one of the
// former keys is not in the list, replace returns the unchanged list and ErrStale.
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

// book returns the index in e.next.Books of the book with the given key; -1 if there is none.
func (e *Edit) book(key string) int {
	return slices.IndexFunc(e.next.Books, func(b manifest.Book) bool { return b.Key == key })
}

// Learn sets Manifest.Learnt to a name that no other commit uses. It must be called by a commit with
// new outcomes of URLs. When all outcomes up to this commit were applied to the frontier (the
// crawl's queues in Redis), the name is also stored there. As long as the frontier has another name,
// it may lack some outcomes.
func (e *Edit) Learn(name string) { e.next.Learnt = name }

// Consume records in Manifest.Consumed that the spool objects of these batches (all that was
// fetched) are no longer needed. Usually this is because their pages are stored now; then damaged
// is "". Otherwise they could not be read and were copied to quarantine; then damaged says why.
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

// Close removes from Manifest.Consumed each batch for which the given function returns true. It
// records in Manifest.Closed that these batches, and all earlier ones of their epochs, must not be
// packed any more. The function must return true only for a batch whose spool object has been
// deleted already. Close reports whether it removed any batch.
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

// AddGone records stored pages that have vanished from the web, so that their documents are marked
// as dead in all segments (see Manifest.Gone).
func (e *Edit) AddGone(pages ...manifest.Gone) { e.next.AddGone(pages...) }

// DropGone removes from Manifest.Gone (the list of vanished pages) each page for which the given
// function returns true. The list prevents that earlier versions of a page are found again. So the
// function may return true only if no such version can become a live document any more. DropGone
// reports whether it removed any page.
func (e *Edit) DropGone(over func(manifest.Gone) bool) (changed bool) {
	before := len(e.next.Gone)
	e.next.Gone = slices.DeleteFunc(e.next.Gone, over)
	return len(e.next.Gone) < before
}

// MarkMasked sets the field Masked of each page in Manifest.Gone. The given function
// returns the new value: whether all documents of the page are dead in all segments.
// MarkMasked reports whether any field has changed.
func (e *Edit) MarkMasked(masked func(manifest.Gone) bool) (changed bool) {
	for i := range e.next.Gone {
		g := &e.next.Gone[i]
		now := masked(*g)
		changed = changed || now != g.Masked
		g.Masked = now
	}
	return changed
}

// condemn records in Manifest.Condemned that the objects with the keys will be deleted. The
// generation being made must not list them.
func (e *Edit) condemn(keys ...string) { e.next.Condemn(e.now(), keys...) }

// CondemnUnlisted condemns (marks for deletion) objects that were stored for a commit that never
// happened. They must be among those that Unlisted has returned. They are deleted after a grace (a
// waiting time). A committer that wants to list such an object later cannot do so any more, and must
// store it under another key.
func (e *Edit) CondemnUnlisted(condemned ...string) {
	e.condemn(condemned...)
	for i := range condemned {
		e.next.Condemned[len(e.next.Condemned)-1-i].Erase = true
	}
}

// Unlisted returns those of the keys that the generation being made neither lists nor has condemned
// (marked for deletion).
func (e *Edit) Unlisted(ctx context.Context, keys ...string) (unlisted []string, err error) {
	known, err := knownKeys(ctx, e.bucket, e.next)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if !known[key] {
			unlisted = append(unlisted, key)
		}
	}
	return unlisted, nil
}

// Collected updates Manifest.Condemned, the records of objects that are being deleted. It passes
// each record to two functions of the caller, and reports whether any record has changed:
//   - The first function says whether the object has been deleted. If so, Collected sets the
//     record's field Gone.
//   - The second function says whether the record is no longer needed, because no process can still
//     be about to list or delete the object. If so, Collected removes the record.
func (e *Edit) Collected(deleted, over func(manifest.Condemned) bool) (changed bool) {
	e.next.Condemned, changed = collected(e.next.Condemned, e.now(), func(c *manifest.Condemned) *time.Time { return &c.Gone }, deleted, over)
	return changed
}

// collected sets the time at which records were deleted (goneOf), unless it is set already, for those of which
// deleted says so, and removes those of which over says so.
func collected[R any](records []R, now time.Time, goneOf func(*R) *time.Time, deleted, over func(R) bool) (left []R, changed bool) {
	for i := range records {
		if gone := goneOf(&records[i]); gone.IsZero() && deleted(records[i]) {
			*gone, changed = now.UTC().Truncate(time.Millisecond), true
		}
	}
	before := len(records)
	left = slices.DeleteFunc(records, over)
	return left, changed || len(left) < before
}

// KeepFrom sets Manifest.Oldest, the number of the oldest generation that is kept, and returns
// true. If the new number is not higher than the present one, KeepFrom changes nothing and returns
// false.
func (e *Edit) KeepFrom(oldest uint64) (changed bool) {
	if e.next.Oldest >= oldest {
		return false
	}
	e.next.Oldest = oldest
	return true
}

// Forgot records in Manifest.Forgotten that all pages are erased that one version of the takedowns
// (the list of pages to erase) names, and returns true. If this version or a higher one is recorded
// already, Forgot changes nothing and returns false.
//
// Before the call, the pages must be erased from all listed packages, books and segments. Other
// objects may still hold texts of them. So Forgot has these deleted after a grace (a waiting time):
//   - all condemned objects, even if kept generations list them (see manifest.Condemned);
//   - all overlays with anchors, the one with unvisited URLs, and dictionaries: Forgot unlists and
//     condemns them, and resets Manifest.Ranked, so that the function rank makes them again.
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
