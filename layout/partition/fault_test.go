package partition_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// isFault reports whether an error is a Fault whose text names the repair command once.
func isFault(err error) bool {
	_, is := errors.AsType[*partition.Fault](err)
	return is && strings.Count(err.Error(), "run bucketsearch verify --repair") == 1
}

// TestFaults damages or deletes generations and books. The errors that follow go away only
// when somebody repairs the partition: each of them must be a Fault, whose text names the
// repair command.
func TestFaults(t *testing.T) {
	w := newWorld(t)
	p, _ := w.listed()
	newest := p.Manifest()
	w.check(w.bucket.Replace(t.Context(), layout.ManifestKey(0, newest.Generation), []byte("?")))
	w.check(w.bucket.Delete(t.Context(), layout.HintKey(0)))
	_, err := partition.Open(t.Context(), w.bucket, 0, w.clock)
	if !errors.Is(err, manifest.ErrDamaged) || !isFault(err) {
		t.Errorf("the newest generation is damaged: %v", err)
	}
	if err := p.Commit(t.Context(), func(*partition.Edit) error { return nil }); !isFault(err) {
		t.Errorf("and whoever commits is told: %v", err)
	}
	if m, err := partition.Read(t.Context(), w.bucket, 0); err != nil || m.Generation != newest.Generation-1 {
		t.Errorf("who reads gets generation %d, %v", m.Generation, err)
	}
	for number := range newest.Generation {
		w.check(w.bucket.Replace(t.Context(), layout.ManifestKey(0, number+1), []byte("?")))
	}
	if _, err := partition.Read(t.Context(), w.bucket, 0); !errors.Is(err, manifest.ErrDamaged) || !isFault(err) {
		t.Errorf("all are damaged: %v", err)
	}

	w.check(w.bucket.Create(t.Context(), layout.BookKey(0, "no"), []byte("no book")))
	books, err := partition.OpenBooks(t.Context(), w.bucket, []manifest.Book{{Key: layout.BookKey(0, "no")}, {Key: layout.BookKey(0, "gone")}})
	w.check(err)
	err = books.Err()
	if !isFault(err) || !errors.Is(err, book.ErrDamaged) || !strings.Contains(err.Error(), layout.BookKey(0, "no")) || strings.Contains(err.Error(), "\n") {
		t.Errorf("books: %v", err)
	}
	for _, err := range books.Standings(t.Context()) {
		if !isFault(err) {
			t.Errorf("standings: %v", err)
		}
	}
}
