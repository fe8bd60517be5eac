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

// lost is a world in which page 1 is gone, and nobody has to think of it any
// more.
func lost(t *testing.T) *verifytest.World {
	w := done(t)
	w.Lose(verifytest.Batch(9), site+"1")
	w.Mask()
	w.Commit(func(m *manifest.Manifest) { m.Gone = nil })
	return w
}

// mended is what is left to do after a repair, done; and then checks that the
// page is gone, or not, and that nothing is wrong.
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

// Whatever is damaged, a page that is gone is not found again: only when the
// books that say so are lost it is, until it is requested once more.
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

// What is searched though it is gone is masked again, and what is masked though
// it stands is indexed again.
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

// Another look, given out before page 1 was found to be gone and settled after
// that, does not bring it back.
func TestGoneThoughUnchangedLater(t *testing.T) {
	w := done(t)
	w.Lose(verifytest.Batch(9), site+"1")
	w.LearnBook(book.Book{Outcomes: functionstest.Outcomes(t, layout.Version{Epoch: 1, Token: 10}, book.Unchanged, site+"1")})
	mended(w, true)
}
