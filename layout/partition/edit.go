package partition

import (
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Edit is a generation in the making.
type Edit struct {
	bucket blob.Bucket
	now    func() time.Time
	next   *manifest.Manifest // its Generation is still the base's
}

// Manifest returns the generation with the edits so far, still under the number of
// its base. The caller must not change it.
func (e *Edit) Manifest() *manifest.Manifest { return e.next }

// Generation returns the number of the generation in the making.
func (e *Edit) Generation() uint64 { return e.next.Generation + 1 }

// listable reports whether an object that was put at a moment may still be listed.
func (e *Edit) listable(key string, t ticket) bool {
	return e.now().Sub(t.put) < Fresh && !e.next.IsCondemned(key)
}

// AddPackage lists a package, not indexed yet, under the next identifier.
func (e *Edit) AddPackage(t Package) error {
	if !e.listable(t.Key, t.ticket) || e.next.Package(t.Key) != nil {
		return ErrStale
	}
	e.next.Add(t.Package)
	return nil
}

// ReplacePackage lists a rewritten package, from which pages were erased, in the
// place of the former one. The remaining pages keep their offsets, so that what books
// and segments say of the former key is true of the new one. It fails with ErrStale
// if the former package is not listed under this key.
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

// listed returns the package with this key, nil if none has it.
func (e *Edit) listed(key string) *manifest.Package {
	if pkg := e.next.Package(key); pkg != nil && pkg.Key == key {
		return pkg
	}
	return nil
}

// SetIndexed notes whether a package is indexed. It changes nothing if no package
// has the identifier.
func (e *Edit) SetIndexed(id uint32, indexed bool) {
	for i := range e.next.Packages {
		if pkg := &e.next.Packages[i]; pkg.ID == id {
			pkg.Indexed = indexed
		}
	}
}

// AddBook lists a book, unless it is listed already.
func (e *Edit) AddBook(t Book) error {
	if !e.listable(t.Key, t.ticket) {
		return ErrStale
	}
	if e.book(t.Key) < 0 {
		e.next.Books = append(e.next.Books, t.Book)
	}
	return nil
}

// ReplaceBooks lists a book in the place of others, of which it holds all that still
// counts. It fails with ErrStale if one of these is not listed.
func (e *Edit) ReplaceBooks(former []string, t Book) error {
	if !e.listable(t.Key, t.ticket) {
		return ErrStale
	}
	var err error
	e.next.Books, err = replace(e, e.next.Books, func(b manifest.Book) string { return b.Key }, former, t.Book)
	return err
}

// replace returns a list with one object in the place of others, and condemns these.
// If one of them is not in the list, it returns the list as it is and ErrStale.
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
		if k != key(by) { // which is what it was when nothing was left out
			e.condemn(k)
		}
	}
	list = slices.DeleteFunc(list, func(object T) bool { return key(object) == key(by) || slices.Contains(former, key(object)) })
	return slices.Insert(list, min(at, len(list)), by), nil
}

func (e *Edit) book(key string) int {
	return slices.IndexFunc(e.next.Books, func(b manifest.Book) bool { return b.Key == key })
}

// Learn sets the name of this commit in Manifest.Learnt: a frontier that does not
// know the name is behind the books.
func (e *Edit) Learn(name string) { e.next.Learnt = name }

// Consume notes that the spool objects of batches are packed, or damaged and in
// quarantine. It fails with ErrStale if one was consumed or closed before.
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

// Close replaces the records of consumed batches, whose spool objects are deleted, by
// the highest batch: it and all batches before it are closed. It reports whether any
// was consumed.
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

// AddGone lists pages that are gone.
func (e *Edit) AddGone(pages ...manifest.Gone) { e.next.AddGone(pages...) }

// DropGone takes gone pages off the list of which no document can appear again. It
// reports whether there were any.
func (e *Edit) DropGone(over func(manifest.Gone) bool) (changed bool) {
	before := len(e.next.Gone)
	e.next.Gone = slices.DeleteFunc(e.next.Gone, over)
	return len(e.next.Gone) < before
}

// MarkMasked notes of gone pages whether all their documents in segments are dead. It
// reports whether that is new for any.
func (e *Edit) MarkMasked(masked func(manifest.Gone) bool) (changed bool) {
	for i := range e.next.Gone {
		g := &e.next.Gone[i]
		now := masked(*g)
		changed = changed || now != g.Masked
		g.Masked = now
	}
	return changed
}

// condemn condemns objects that this generation no longer lists.
func (e *Edit) condemn(keys ...string) { e.next.Condemn(e.now(), keys...) }

// CondemnUnlisted condemns the objects that are neither listed nor condemned, and
// returns them: they were put for a commit that never came. A committer that is still
// about to list one must put it under another name. They are deleted after the grace,
// whatever generations are kept, because none lists them.
func (e *Edit) CondemnUnlisted(keys ...string) (condemned []string) {
	condemned = e.Unlisted(keys...)
	e.condemn(condemned...)
	for i := range condemned {
		e.next.Condemned[len(e.next.Condemned)-1-i].Erase = true
	}
	return condemned
}

// Unlisted returns the objects that are neither listed nor condemned.
func (e *Edit) Unlisted(keys ...string) (unlisted []string) {
	known := e.next.Known()
	for _, key := range keys {
		if !known[key] {
			unlisted = append(unlisted, key)
		}
	}
	return unlisted
}

// Collected notes that condemned objects are deleted, and forgets those that nobody
// can be about to delete or to list any more.
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

// KeepFrom sets the oldest generation that is kept, if that is later than before, and
// reports whether it was.
func (e *Edit) KeepFrom(oldest uint64) (changed bool) {
	if e.next.Oldest >= oldest {
		return false
	}
	e.next.Oldest = oldest
	return true
}

// Forgot notes that the partition holds no pages any more that a version of the
// takedowns forgets, except in condemned objects. These are deleted after the grace,
// whatever generations are kept.
func (e *Edit) Forgot(version uint64) (changed bool) {
	if e.next.Forgotten >= version {
		return false
	}
	e.next.Forgotten = version
	e.next.Erase()
	return true
}
