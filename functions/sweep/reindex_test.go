package sweep

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// TestReindexBesideDamage checks that Reindex returns an error for a segment that cannot be read,
// and that the packages of the other segments are indexed again.
func TestReindexBesideDamage(t *testing.T) {
	w := newQuiet(t)
	w.run()
	w.pack(0, 20, one+"a")
	w.pack(0, 21, one+"b")
	w.pack(1, 22, two+"a")
	lost := w.manifest(0).Segments[0].Key
	if err := w.bucket.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	n, err := w.Reindex(t.Context(), func(language string) uint32 { return analysis.Version(language) + 1 })
	if n != 2 || !errors.Is(err, blob.ErrAbsent) || !strings.Contains(err.Error(), lost) {
		t.Errorf("%d packages are indexed anew, %v", n, err)
	}
}

func TestReindex(t *testing.T) {
	w := newQuiet(t)
	w.Limits.Tiers.Tier = 3
	w.run()
	w.pack(0, 20, one+"a", one+"b")
	w.pack(0, 21, one+"b", one+"c")
	w.pack(0, 22, one+"d")
	w.pack(1, 23, two+"a")
	w.merge(0)
	before := w.manifest(0)
	if len(before.Segments) != 1 {
		t.Fatalf("segments %+v", before.Segments)
	}
	if n, err := w.Reindex(t.Context(), analysis.Version); n != 0 || err != nil {
		t.Errorf("%d packages are indexed anew, %v, want none of the program's own version", n, err)
	}
	if m := w.manifest(0); m.Generation != before.Generation {
		t.Error("something was committed")
	}
	other := func(language string) uint32 { return analysis.Version(language) + 1 }
	for name, v := range map[string]func(string) uint32{"other version": other, "all": nil} {
		w.sender.Take()
		n, err := w.Reindex(t.Context(), v)
		if n != 4 || err != nil || len(w.sender.Take()) != 4 {
			t.Errorf("%s: %d packages are indexed anew, %v", name, n, err)
		}
		m := w.manifest(0)
		if diff := cmp.Diff(before.Segments, m.Segments); diff != "" {
			t.Errorf("%s: the old segments do not serve (-want +got):\n%s", name, diff)
		}
		if w.Limits.Tiers.Mergeable(&m, false) != nil {
			t.Errorf("%s: what is replaced is merged", name)
		}
		w.index(0)
		w.index(1)
		m = w.manifest(0)
		if len(m.Segments) != 3 || !m.IsCondemned(before.Segments[0].Key) {
			t.Errorf("%s: segments %+v", name, m.Segments)
		}
		live := 0
		for _, s := range m.Segments {
			dead, err := partition.Dead(t.Context(), w.bucket, &s)
			if err != nil {
				t.Fatal(err)
			}
			live += s.Documents - int(dead.GetCardinality())
		}
		if live != 4 {
			t.Errorf("%s: %d documents live, want 4", name, live)
		}
		w.merge(0)
		before = w.manifest(0)
	}
}
