package partition

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Edits of repair, for objects that are lost, damaged or listed wrongly. A damaged
// object leaves the list without being condemned: repair has moved its bytes into
// quarantine, and a sound object may be stored under its key again.

// UnlistPackage takes a lost package off the list. Its documents are dead from then
// on. It changes nothing if the key is not listed any more.
func (e *Edit) UnlistPackage(ctx context.Context, key string) error {
	e.acquit(key)
	if pkg := e.listed(key); pkg != nil {
		return e.unlistPackage(ctx, *pkg)
	}
	return nil
}

// RelistPackage corrects what the list says of a sound package, and marks it as not
// indexed. It changes nothing if the key is not listed any more.
func (e *Edit) RelistPackage(id uint32, sound manifest.Package) {
	e.acquit(sound.Key)
	for i := range e.next.Packages {
		if pkg := &e.next.Packages[i]; pkg.ID == id && pkg.Key == sound.Key {
			pkg.Bytes, pkg.Pages, pkg.Indexed = sound.Bytes, sound.Pages, false
		}
	}
	e.next.Packages = slices.DeleteFunc(e.next.Packages, func(p manifest.Package) bool { return p.Key == sound.Key && p.ID != id })
}

// UnlistBook takes a lost book off the list.
func (e *Edit) UnlistBook(key string) {
	e.acquit(key)
	e.next.Books = slices.DeleteFunc(e.next.Books, func(b manifest.Book) bool { return b.Key == key })
}

// RelistBook corrects what the list says of a sound book. It changes nothing if the
// key is not listed any more.
func (e *Edit) RelistBook(sound manifest.Book) {
	e.acquit(sound.Key)
	at := e.book(sound.Key)
	if at < 0 {
		return
	}
	e.next.Books = slices.DeleteFunc(e.next.Books, func(b manifest.Book) bool { return b.Key == sound.Key })
	e.next.Books = slices.Insert(e.next.Books, at, sound)
}

// UnlistSegment takes a segment off the list, and marks all its packages as not
// indexed. A sound segment is condemned, because earlier generations list it.
func (e *Edit) UnlistSegment(key string, sound bool) {
	e.acquit(key)
	i := e.segment(key)
	if sound {
		e.condemn(key)
	}
	if i < 0 {
		return
	}
	for _, part := range e.next.Segments[i].Parts {
		e.SetIndexed(part.Package, false)
	}
	e.next.Segments = slices.DeleteFunc(e.next.Segments, func(s manifest.Segment) bool { return s.Key == key })
}

// Unmask makes all documents of a segment alive, before Mask sets anew which are
// dead.
func (e *Edit) Unmask(key string) {
	i := e.segment(key)
	if i < 0 {
		return
	}
	s := &e.next.Segments[i]
	e.acquit(s.Deletions.Key)
	s.Deletions, s.Erase, s.Compared = nil, false, false
}

// SetGone replaces the list of gone pages.
func (e *Edit) SetGone(pages []manifest.Gone) {
	e.next.Gone = nil
	e.next.AddGone(pages...)
}

// ForgetAgain makes the sweep erase all forgotten pages once more.
func (e *Edit) ForgetAgain() { e.next.Forgotten = 0 }

// acquit takes a key off the condemned ones, because it is or may be listed again.
func (e *Edit) acquit(key string) {
	e.next.Condemned = slices.DeleteFunc(e.next.Condemned, func(c manifest.Condemned) bool { return c.Key == key })
}
