package partition_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// book returns the bytes of a book with the outcome of one URL.
func (w *world) book(name string) []byte {
	w.Helper()
	url := "http://a.example/" + name
	content, err := book.Encode(book.Book{Outcomes: []book.Outcome{{URL: url, Place: layout.PlaceOf("a.example", layout.IdentityOf(url)), Version: layout.Version{Epoch: 1, Token: 1}, State: book.Failed, Time: noon}}})
	w.check(err)
	return content
}

// condemnedBook commits the book "old", and takes it off again. A day later it moves the records of all
// condemned objects to two lists. It returns the key of the book, which is in the second list.
func (w *world) condemnedBook() string {
	w.Helper()
	p := w.open()
	w.commit(p, func(e *partition.Edit) error {
		for n := range 3 {
			e.CondemnUnlisted(layout.BookKey(0, fmt.Sprintf("%032d", n)))
			e.Manifest().Condemned[n].Erase = false
		}
		return nil
	})
	old, err := p.PutBook(w.Context(), w.book("old"), 1, 1)
	w.check(err)
	w.commit(p, func(e *partition.Edit) error { return e.AddBook(old) })
	by, err := p.PutBook(w.Context(), w.book("new"), 1, 1)
	w.check(err)
	w.commit(p, func(e *partition.Edit) error { return e.ReplaceBooks([]string{old.Key}, by) })
	w.now = w.now.Add(24 * time.Hour)
	for range 2 {
		w.commit(p, func(e *partition.Edit) error {
			changed, err := e.ListCondemned(w.Context(), w.now.Add(-time.Hour), 3)
			if !changed {
				w.Error("nothing was listed")
			}
			return err
		})
	}
	m := p.Manifest()
	if len(m.Condemned) != 0 || len(m.CondemnedLists) != 2 || m.CondemnedLists[0].Records != 3 || m.CondemnedLists[1].Records != 1 || m.CondemnedLists[1].Since != m.Generation-2 {
		w.Fatalf("condemned %+v, lists %+v", m.Condemned, m.CondemnedLists)
	}
	return old.Key
}

// TestCondemnedLists checks that no object gets a key that is in a list of condemned objects. Each list
// must be read once.
func TestCondemnedLists(t *testing.T) {
	w := newWorld(t)
	key := w.condemnedBook()
	counted := countblob.New(w.bucket)
	p, err := partition.Open(t.Context(), counted, 0, w.clock)
	w.check(err)
	before := counted.Counts().Get
	again, err := p.PutBook(t.Context(), w.book("old"), 1, 1)
	w.check(err)
	if _, err = p.PutBook(t.Context(), w.book("other"), 1, 1); err != nil {
		t.Fatal(err)
	}
	if gets := counted.Counts().Get - before; again.Key == key || gets != 2 {
		t.Errorf("put as %s after %d GETs", again.Key, gets)
	}
	w.commit(p, func(e *partition.Edit) error { return e.AddBook(again) })
	w.commit(p, func(e *partition.Edit) error {
		keys := []string{key, again.Key, layout.BookKey(0, fmt.Sprintf("%032d", 2)), "unlisted"}
		unlisted, err := e.Unlisted(t.Context(), keys...)
		if diff := cmp.Diff([]string{"unlisted"}, unlisted); diff != "" {
			t.Errorf("unlisted (-want +got):\n%s", diff)
		}
		return err
	})
}

// TestTicketOlderThanAList makes a ticket for an object from an old manifest. Meanwhile another process
// lists the same object, condemns it, and moves the record to a list. The ticket must be worthless.
func TestTicketOlderThanAList(t *testing.T) {
	w := newWorld(t)
	slow := w.open()
	w.check(slow.Begin(t.Context()))
	w.condemnedBook()
	late, err := slow.PutBook(t.Context(), w.book("old"), 1, 1)
	w.check(err)
	if err := slow.Commit(t.Context(), func(e *partition.Edit) error { return e.AddBook(late) }); !errors.Is(err, partition.ErrStale) {
		t.Errorf("committed with %v", err)
	}
}

// TestSparedFromAList makes a condemned key listable again, as repair does. The other records of its list
// must stay.
func TestSparedFromAList(t *testing.T) {
	w := newWorld(t)
	spared := layout.BookKey(0, fmt.Sprintf("%032d", 1))
	w.condemnedBook()
	p := w.open()
	w.commit(p, func(e *partition.Edit) error {
		e.UnlistBook(spared)
		return nil
	})
	m := p.Manifest()
	keys, err := partition.CondemnedKeys(t.Context(), w.bucket, m)
	if err != nil || keys[spared] || len(keys) != 3 || len(m.Condemned) != 2 || len(m.CondemnedLists) != 1 {
		t.Errorf("condemned %v, lists %+v, %v", keys, m.CondemnedLists, err)
	}
}

// TestDamagedCondemnedList deletes and damages a list. Nothing can be put then, until repair drops the
// list.
func TestDamagedCondemnedList(t *testing.T) {
	w := newWorld(t)
	w.condemnedBook()
	lists := w.open().Manifest().CondemnedLists
	w.check(w.bucket.Delete(t.Context(), lists[0].Key))
	w.check(w.bucket.Replace(t.Context(), lists[1].Key, []byte("?")))
	p := w.open()
	for range lists {
		if _, err := p.PutBook(t.Context(), w.book("other"), 1, 1); !errors.Is(err, manifest.ErrDamaged) || !isFault(err) {
			t.Errorf("put with %v", err)
		}
		if keys, err := partition.CondemnedKeys(t.Context(), w.bucket, p.Manifest()); !errors.Is(err, manifest.ErrDamaged) || len(keys) != 0 {
			t.Errorf("condemned %v, %v", keys, err)
		}
		w.commit(p, func(e *partition.Edit) error {
			e.DropCondemnedList(e.Manifest().CondemnedLists[0].Key)
			return nil
		})
	}
	if _, err := p.PutBook(t.Context(), w.book("other"), 1, 1); err != nil {
		t.Error(err)
	}
}
