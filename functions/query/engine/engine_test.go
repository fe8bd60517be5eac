package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

func TestPackageHoldsAnotherPage(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(2)...)
	e := s.engine(s.Bucket)
	a, err := address.Parse("https://example0.org/manual")
	s.Check(err)
	other, err := address.Parse("https://example1.org/manual")
	s.Check(err)
	totalOf(t, e, "manual")
	d, _, err := e.snapshots.last.Load().index.Lookup(t.Context(), other.ID)
	s.Check(err)
	place := fmt.Sprintf("byte %d of %s", d.Offset, d.Package)
	if _, err := readPage(t.Context(), s.Bucket, a, d.Package, webobject.Place{Offset: d.Offset, Length: d.Length}); err == nil || !strings.Contains(err.Error(), place) {
		t.Errorf("%v, want it to name %s", err, place)
	}
}

func totalOf(t *testing.T, e *Engine, text string) int {
	t.Helper()
	found, err := e.Search(t.Context(), Query{Query: search.Query{Text: text, Size: 10}})
	if err != nil {
		t.Fatal(err)
	}
	return found.Total
}

func TestPatience(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(2)...)
	e := s.engine(s.Bucket)
	for _, test := range []struct {
		patience, own time.Duration
		partial       bool
	}{
		{0, 0, false},
		{time.Second, 0, true}, // the clock of the engine is a day late, so its deadline has passed
		{time.Second, 48 * time.Hour, false},
	} {
		e.Now = func() time.Time { return time.Now().Add(-24 * time.Hour) }
		e.Patience = test.patience
		q := Query{Query: search.Query{Text: "manual", Size: 10}}
		if test.own > 0 {
			q.Deadline = e.Now().Add(test.own)
		}
		found, err := e.Search(t.Context(), q)
		if err != nil || found.Partial != test.partial {
			t.Errorf("%+v: partial is %v, %v", test, found.Partial, err)
		}
	}
}
