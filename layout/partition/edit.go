package partition

import (
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Edit is a generation while it is made.
type Edit struct {
	bucket blob.Bucket
	now    func() time.Time
	next   *manifest.Manifest // its Generation is still the base's
}

// Manifest returns the generation as it is by now, still under the number of
// its base. It is not to be changed.
func (e *Edit) Manifest() *manifest.Manifest { return e.next }

// Generation returns the number of the generation that is being made.
func (e *Edit) Generation() uint64 { return e.next.Generation + 1 }

// listable reports whether an object may be listed that was put at a moment.
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

// ReplacePackage lists what is left of a package in its place. The pages that
// are left keep their places, so what books and segments say of the former key
// holds for the new one. It fails with ErrStale where the former package is not
// listed under this key.
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

// listed returns the package that stands under a key now, nil if none does.
func (e *Edit) listed(key string) *manifest.Package {
	if pkg := e.next.Package(key); pkg != nil && pkg.Key == key {
		return pkg
	}
	return nil
}

// SetIndexed says of a package whether it is indexed. It changes nothing where
// no package has the identifier.
func (e *Edit) SetIndexed(id uint32, indexed bool) {
	for i := range e.next.Packages {
		if pkg := &e.next.Packages[i]; pkg.ID == id {
			pkg.Indexed = indexed
		}
	}
}

// AddBook lists a book; once, if it is listed already.
func (e *Edit) AddBook(t Book) error {
	if !e.listable(t.Key, t.ticket) {
		return ErrStale
	}
	if e.book(t.Key) < 0 {
		e.next.Books = append(e.next.Books, t.Book)
	}
	return nil
}

// ReplaceBooks lists a book in the place of others, of which it says all that
// still counts. It fails with ErrStale where one of these is not listed.
func (e *Edit) ReplaceBooks(former []string, t Book) error {
	if !e.listable(t.Key, t.ticket) {
		return ErrStale
	}
	var err error
	e.next.Books, err = replace(e, e.next.Books, func(b manifest.Book) string { return b.Key }, former, t.Book)
	return err
}

// replace returns a list with one object in the place of others, which are
// condemned, or the list as it is and ErrStale where one of these is not in it.
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

// Learn names what this commit teaches: every frontier that does not know the
// name is behind the books.
func (e *Edit) Learn(name string) { e.next.Learnt = name }

// Consume says of batches that their spool objects are packed, or put into
// quarantine for being damaged. It fails with ErrStale where one was consumed
// before, or closed.
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

// Close closes consumed batches, and all before them, in place of remembering
// each: their spool objects are deleted. It reports whether any was consumed.
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

// DropGone takes gone pages off the list of which nothing can be found again.
// It reports whether there were any.
func (e *Edit) DropGone(over func(manifest.Gone) bool) (changed bool) {
	before := len(e.next.Gone)
	e.next.Gone = slices.DeleteFunc(e.next.Gone, over)
	return len(e.next.Gone) < before
}

// MarkMasked says of gone pages whether no document of theirs is alive in any
// segment. It reports whether that is new of any.
func (e *Edit) MarkMasked(masked func(manifest.Gone) bool) (changed bool) {
	for i := range e.next.Gone {
		g := &e.next.Gone[i]
		now := masked(*g)
		changed = changed || now != g.Masked
		g.Masked = now
	}
	return changed
}

// condemn has objects deleted that this generation no longer lists.
func (e *Edit) condemn(keys ...string) { e.next.Condemn(e.now(), keys...) }

// CondemnUnlisted condemns those objects that are neither listed nor condemned,
// and returns them: they were put for a commit that never came. A committer that
// is still about to list one puts it under another name. They go after the
// grace, whatever generation is kept, since none lists them.
func (e *Edit) CondemnUnlisted(keys ...string) (condemned []string) {
	condemned = e.Unlisted(keys...)
	e.condemn(condemned...)
	for i := range condemned {
		e.next.Condemned[len(e.next.Condemned)-1-i].Erase = true
	}
	return condemned
}

// Unlisted returns those of some objects that are neither listed nor condemned.
func (e *Edit) Unlisted(keys ...string) (unlisted []string) {
	known := e.next.Known()
	for _, key := range keys {
		if !known[key] {
			unlisted = append(unlisted, key)
		}
	}
	return unlisted
}

// Collected says of condemned objects that they are deleted, or lets go of
// them when nobody can be about to delete or to list them any more.
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

// KeepFrom says which generation is the oldest that is kept. It reports whether
// that is later than before.
func (e *Edit) KeepFrom(oldest uint64) (changed bool) {
	if e.next.Oldest >= oldest {
		return false
	}
	e.next.Oldest = oldest
	return true
}

// Forgot says that nothing is left here of what a version of the takedowns
// forgets, but for what is condemned: that goes after its grace, whatever
// generation is kept.
func (e *Edit) Forgot(version uint64) (changed bool) {
	if e.next.Forgotten >= version {
		return false
	}
	e.next.Forgotten = version
	e.next.Erase()
	return true
}
