package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestErasedPagesNeedNoColumns checks that columns of segments are not read for a takedown whose pages
// the partition has erased.
func TestErasedPagesNeedNoColumns(t *testing.T) {
	s := newStore(t, 3)
	s.Publish(querytest.Manual(4)...)
	e := s.engine(s.Bucket)
	_, err := takedown.Forget(t.Context(), s.Bucket, takedown.URL(s.Address("https://example0.org/manual"), querytest.Noon))
	s.Check(err)
	taken := func() (segments int) {
		totalOf(t, e, "manual")
		for _, l := range e.snapshots.last.Load().segments {
			if l.takedowns != 0 {
				segments++
			}
		}
		return segments
	}
	if taken() == 0 {
		t.Error("no columns were read before the pages were erased")
	}
	for p := range layout.Partition(3) {
		s.Commit(p, func(m *manifest.Manifest) error { m.Forgotten = 2; return nil })
	}
	s.Clock.Advance(e.Age)
	if n := taken(); n > 0 {
		t.Errorf("the columns of %d segments were read after the pages were erased", n)
	}
}

// TestHiddenForAWhile checks a takedown that the operator can take back. Its page is hidden, even if the
// partition has erased all pages of final takedowns. When the takedown is taken back, the page is shown
// again.
func TestHiddenForAWhile(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(4)...)
	e := s.engine(s.Bucket)
	all := totalOf(t, e, "manual")
	s.Commit(0, func(m *manifest.Manifest) error { m.Forgotten = 7; return nil })
	entry := takedown.URL(s.Address("https://example0.org/manual"), querytest.Noon)
	_, err := takedown.Suspend(t.Context(), s.Bucket, querytest.Noon.Add(time.Hour), entry)
	s.Check(err)
	s.Clock.Advance(time.Minute)
	if n := totalOf(t, e, "manual"); n != all-1 {
		t.Errorf("%d pages are found, want %d without the hidden one", n, all-1)
	}
	if _, err := e.Page(t.Context(), s.Address("https://example0.org/manual"), time.Time{}); !errors.Is(err, ErrNoPage) {
		t.Errorf("the hidden page: %v", err)
	}
	_, err = takedown.Undo(t.Context(), s.Bucket, 0, entry)
	s.Check(err)
	s.Clock.Advance(time.Minute)
	if n := totalOf(t, e, "manual"); n != all {
		t.Errorf("%d pages are found, want %d again", n, all)
	}
}
