package engine

import (
	"testing"

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
