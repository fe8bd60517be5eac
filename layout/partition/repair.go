package partition

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// The following edits are for repair, if objects are lost, damaged or listed wrongly. A
// damaged object is taken off its list without being condemned: repair has moved its
// bytes into quarantine, and a sound object may be stored under its key again.

// Restate makes the generation a checkpoint: it is stored whole, and can be read even if generations
// before it are damaged or lost.
func (e *Edit) Restate() { e.next.Restate() }

// UnlistPackage takes a lost or damaged package off the list of packages, and marks its documents
// as dead in all segments. If the key is not listed any more, it only removes the key from
// Manifest.Condemned, the list of objects to delete.
func (e *Edit) UnlistPackage(ctx context.Context, key string) error {
	e.uncondemn(key)
	if pkg := e.listed(key); pkg != nil {
		return e.unlistPackage(ctx, *pkg)
	}
	return nil
}

// RelistPackage corrects the entry of a package in the list of packages. The second parameter is a
// correct entry of this package. The listed entry with the same key and the given ID gets the size
// and the number of pages of the correct one, and is marked as not indexed. RelistPackage removes
// all entries that have the same key, but another ID. It also removes the key from
// Manifest.Condemned, the list of objects to delete.
func (e *Edit) RelistPackage(id uint32, sound manifest.Package) {
	e.uncondemn(sound.Key)
	for i := range e.next.Packages {
		if pkg := &e.next.Packages[i]; pkg.ID == id && pkg.Key == sound.Key {
			pkg.Bytes, pkg.Pages, pkg.Indexed = sound.Bytes, sound.Pages, false
		}
	}
	e.next.Packages = slices.DeleteFunc(e.next.Packages, func(p manifest.Package) bool { return p.Key == sound.Key && p.ID != id })
}

// UnlistBook takes a lost or damaged book off the list of books, and does not mark it for deletion.
func (e *Edit) UnlistBook(key string) {
	e.uncondemn(key)
	e.next.Books = slices.DeleteFunc(e.next.Books, func(b manifest.Book) bool { return b.Key == key })
}

// RelistBook takes the correct entry of a book, and puts it in place of the listed entry with the
// same key. If no entry has this key any more, it does not list the book. In both cases it removes
// the key from Manifest.Condemned, the list of objects to delete.
func (e *Edit) RelistBook(sound manifest.Book) {
	e.uncondemn(sound.Key)
	at := e.book(sound.Key)
	if at < 0 {
		return
	}
	e.next.Books = slices.DeleteFunc(e.next.Books, func(b manifest.Book) bool { return b.Key == sound.Key })
	e.next.Books = slices.Insert(e.next.Books, at, sound)
}

// UnlistSegment takes a segment off the list of segments, and marks all its packages as not
// indexed. If the parameter sound is true, the segment is not damaged; then it is condemned: it
// will be deleted when no kept generation lists it.
func (e *Edit) UnlistSegment(key string, sound bool) {
	e.uncondemn(key)
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

// Unmask makes all documents of a segment alive again: it unlists the segment's overlay that marks
// documents as dead. The segment must have such an overlay. A later call of Mask can mark documents
// as dead again. Unmask also sets the segment's fields Erase and Compared to false.
func (e *Edit) Unmask(key string) {
	i := e.segment(key)
	if i < 0 {
		return
	}
	s := &e.next.Segments[i]
	e.uncondemn(s.Deletions.Key)
	s.Deletions, s.Erase, s.Compared = nil, false, false
}

// DropRanks unlists the overlay with the given key: an overlay with ranks, anchors, unvisited URLs
// or a dictionary. The function rank has made this overlay, and shall make it again. But rank does
// nothing if its input is the one that it used last, which the manifest names. So DropRanks also
// empties the field with this name: Dictionaries.Of for a dictionary, otherwise Manifest.Ranked.
func (e *Edit) DropRanks(key string) {
	if d := e.next.Dictionaries; d != nil && slices.ContainsFunc(d.All, func(one manifest.Dictionary) bool { return one.Key == key }) {
		e.keepDictionaries(func(one manifest.Dictionary) bool { return one.Key != key })
		return
	}
	for i := range e.next.Segments {
		s := &e.next.Segments[i]
		if s.Ranks != nil && s.Ranks.Key == key {
			s.Ranks = nil
		}
		if s.Anchors != nil && s.Anchors.Key == key {
			s.Anchors = nil
		}
	}
	if u := e.next.Unvisited; u != nil && u.Key == key {
		e.next.Unvisited = nil
	}
	e.next.Ranked = ""
}

// SetGone replaces Manifest.Gone, the list of stored pages that have vanished from their URLs.
func (e *Edit) SetGone(pages []manifest.Gone) {
	e.next.Gone = nil
	e.next.AddGone(pages...)
}

// ForgetAgain makes the function sweep erase, once more, all pages that takedowns (lists of pages
// to erase) name. For this, it sets Manifest.Forgotten to 0, as if no takedown had been applied
// yet.
func (e *Edit) ForgetAgain() { e.next.Forgotten = 0 }

// uncondemn removes all entries of a key from Manifest.Condemned, the list of objects to delete, and
// from the lists of older entries. It must be called before the key is listed again, because no
// generation may list a condemned key.
func (e *Edit) uncondemn(key string) {
	if e.spared == nil {
		e.spared = make(map[string]bool)
	}
	e.spared[key] = true
	e.next.Condemned = slices.DeleteFunc(e.next.Condemned, func(c manifest.Condemned) bool { return c.Key == key })
}
