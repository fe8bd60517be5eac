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

// lost returns a test bucket in which page 1 is gone (its server no longer has it) and its
// documents are masked (marked as dead in the index). The manifest's list of gone pages is empty.
func lost(t *testing.T) *verifytest.World {
	w := done(t)
	w.Lose(verifytest.Batch(9), site+"1")
	w.Mask()
	w.Commit(func(m *manifest.Manifest) { m.Gone = nil })
	return w
}

// mended does the work that a repair leaves to other functions. Then it checks that page 1 is gone
// if the parameter gone is true, and stored otherwise, and that the bucket has no problem.
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

// TestGoneStaysGone damages each object in turn. After repair, searches must not find a page that
// is gone (its server no longer has it). There is one exception: if the book that says so is lost,
// the page is found until its URL is requested again.
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

// TestGoneIsWrong makes the manifest's list of gone pages wrong, in one of three ways: a gone page is
// not listed; it is listed as masked (hidden from searches), although it is not masked; or a page
// that is not gone is listed. Repair must correct the list.
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

// TestGoneThoughUnchangedLater gives page 1 two outcomes: first that the page is gone, later that it
// is unchanged. The outcome "unchanged" confirms a stored page and stores none itself, and no page is
// stored any more. So the page must stay gone.
func TestGoneThoughUnchangedLater(t *testing.T) {
	w := done(t)
	w.Lose(verifytest.Batch(9), site+"1")
	w.LearnBook(book.Book{Outcomes: functionstest.Outcomes(t, layout.Version{Epoch: 1, Token: 10}, book.Unchanged, site+"1")})
	mended(w, true)
}
