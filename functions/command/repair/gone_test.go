package repair_test

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// lost returns a world in which page 1 is gone, and its documents are masked.
func lost(t *testing.T) *verifytest.World {
	w := done(t)
	w.Lose(verifytest.Batch(9), site+"1")
	w.Mask()
	w.Commit(func(m *manifest.Manifest) { m.Gone = nil })
	return w
}

// mended does the work that a repair has left. Then it checks whether page 1 is gone, and that the
// world has no problem.
func mended(w *verifytest.World, gone bool) {
	w.T.Helper()
	w.Settle(links...)
	w.Mask()
	report := check(w)
	report.Waiting.Delete, report.Waiting.Find = 0, 0
	if !report.Sound() || report.Waiting != (verify.Waiting{}) || (report.Failed == 1) != gone {
		w.T.Errorf("%+v, want page 1 to be gone: %v\n%s", report, gone, sentences(report.Problems))
	}
}

// TestGoneStaysGone damages each object in turn: a page that is gone is not found by searches
// again. The exception is the loss of the books that call it gone: then it is found until it is
// requested once more.
func TestGoneStaysGone(t *testing.T) {
	whole := lost(t)
	m := whole.Manifest()
	says := m.Books[len(m.Books)-1].Key
	var keys []string
	for key := range m.Objects() {
		keys = append(keys, key)
	}
	for _, key := range keys {
		for name, harm := range map[string]func(w *verifytest.World){
			"deleted": func(w *verifytest.World) { w.Delete(key) },
			"flipped": func(w *verifytest.World) { w.Change(key, verifytest.Flip) },
		} {
			t.Run(name+" "+key, func(t *testing.T) {
				w := whole.Clone(t)
				harm(w)
				if report := run(w); len(report.Left) > 0 {
					t.Errorf("left:\n%s", sentences(report.Left))
				}
				mended(w, key != says)
			})
		}
	}
}

// TestGoneIsWrong masks again a page that is searched although it is gone, and indexes again a
// page that is masked although it is stored.
func TestGoneIsWrong(t *testing.T) {
	whole := done(t)
	whole.Lose(verifytest.Batch(9), site+"1")
	for name, harm := range map[string]func(w *verifytest.World){
		"not listed": func(w *verifytest.World) { w.Commit(func(m *manifest.Manifest) { m.Gone = nil }) },
		"not masked": func(w *verifytest.World) { w.Commit(func(m *manifest.Manifest) { m.Gone[0].Masked = true }) },
		"of another page, and no book says so": func(w *verifytest.World) {
			w.Commit(func(m *manifest.Manifest) {
				m.AddGone(manifest.Gone{ID: layout.IdentityOf(site + "2"), Version: verifytest.Batch(9)})
			})
			w.Mask()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := whole.Clone(t)
			harm(w)
			if report := check(w); report.Sound() {
				t.Error("nothing is wrong")
			}
			if report := run(w); len(report.Left) > 0 {
				t.Errorf("left:\n%s", sentences(report.Left))
			}
			mended(w, true)
		})
	}
}

// TestGoneThoughUnchangedLater settles a request for page 1 that was leased before page 1 was
// found gone: it does not bring the page back.
func TestGoneThoughUnchangedLater(t *testing.T) {
	w := done(t)
	w.Lose(verifytest.Batch(9), site+"1")
	w.LearnBook(book.Book{Outcomes: functionstest.Outcomes(t, layout.Version{Epoch: 1, Token: 10}, book.Unchanged, site+"1")})
	mended(w, true)
}
