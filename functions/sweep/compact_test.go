package sweep

import (
	"fmt"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Merged books say what they said, without what is superseded, and no frontier
// notices.
func TestCompact(t *testing.T) {
	w := newQuiet(t)
	w.run()
	for token := range uint64(8) {
		functionstest.Learn(t, w.bucket, 0, book.Book{
			Outcomes: functionstest.Outcomes(t, version(20+token), book.Failed, one+"same", fmt.Sprint(one, token)),
			Links:    []book.Link{functionstest.Link(t, one+"same", one+"target", 1)},
		})
	}
	before := w.manifest(0)
	w.run()
	m := w.manifest(0)
	got := w.stock(0)
	if len(m.Books) != 1 || m.Books[0].Outcomes != 9 || m.Books[0].Links != 1 || len(got.Outcomes) != 9 || len(got.Links) != 1 {
		t.Errorf("books %+v: %+v", m.Books, got)
	}
	if len(m.Condemned) != len(before.Books) || m.Learnt != before.Learnt {
		t.Errorf("condemned %+v, learnt %q", m.Condemned, m.Learnt)
	}
	if epoch := w.frontier(0).Epoch; epoch != 1 {
		t.Errorf("the frontier was built again, in epoch %d", epoch)
	}
	w.run()
	if again := w.manifest(0); again.Generation != m.Generation {
		t.Errorf("merged again: %+v", again.Books)
	}
}
