package sweep

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// TestOutlived checks that a package is deleted when all its pages have later versions or are gone
// from the web, but not while an earlier, kept generation of the manifest lists it.
func TestOutlived(t *testing.T) {
	w := newQuiet(t)
	w.pack(0, 20, one+"a", one+"b")
	w.pack(0, 21, one+"a", one+"c")
	w.lose(30, one+"b")
	before := w.manifest(0)
	w.run()
	m := w.manifest(0)
	if len(m.Packages) != 1 || m.Packages[0].ID != 1 || !m.IsCondemned(before.Packages[0].Key) {
		t.Fatalf("packages %+v, condemned %+v", m.Packages, m.Condemned)
	}
	past := func() (there []string) {
		for key := range before.Objects() {
			there = append(there, w.there(key)...)
		}
		return there
	}
	listed := past()
	w.clock.Advance(w.Limits.Collect.Past)
	w.run()
	if diff := cmp.Diff(listed, past()); diff != "" {
		t.Errorf("what is listed by a generation that is kept (-before +now):\n%s", diff)
	}
	for range 3 {
		w.clock.Advance(w.Limits.Collect.Past)
		w.run()
	}
	w.checkKeys(0)
	w.wantShown("in the end", one+"a "+version(21).String(), one+"c "+version(21).String())
}

// TestNotOutlived checks that a package is kept as long as one of its pages may be needed. The
// package may be deleted only if the books say that all its pages have later versions or are gone,
// and the segments say so, too. In each case of this test, either the books or the segments do not
// say so.
func TestNotOutlived(t *testing.T) {
	for name, harm := range map[string]func(w *world){
		"unchanged": func(w *world) {
			w.learnt(book.Book{Outcomes: functionstest.Outcomes(w.t, version(30), book.Unchanged, one+"a", one+"b")})
		},
		"gone and not yet masked": func(w *world) {
			w.learnt(book.Book{Outcomes: functionstest.Outcomes(w.t, version(30), book.Failed, one+"a", one+"b")})
		},
		"no segment holds it, as if it were damaged": func(w *world) {
			functionstest.Commit(w.t, w.bucket, 0, func(m *manifest.Manifest) { m.Segments = nil })
		},
		"superseded and not indexed": func(w *world) {
			w.pack(0, 30, one+"a", one+"b")
			functionstest.Commit(w.t, w.bucket, 0, func(m *manifest.Manifest) { m.Packages = slices.Clone(m.Packages); m.Packages[0].Indexed = false })
		},
		"lost": func(w *world) {
			w.learnt(book.Book{Outcomes: functionstest.Outcomes(w.t, layout.Version{Epoch: 2}, book.Lost, one+"a", one+"b")})
		},
	} {
		w := newQuiet(t)
		w.pack(0, 20, one+"a", one+"b")
		harm(w)
		w.run()
		if m := w.manifest(0); m.Packages[0].ID != 0 {
			t.Errorf("%s: packages %+v", name, m.Packages)
		}
	}
}

// learnt commits a book in partition 0, and fails the test if that fails.
func (w *world) learnt(learnt book.Book) {
	w.t.Helper()
	if err := w.learn(0, learnt); err != nil {
		w.t.Fatal(err)
	}
}

// TestLearntMeanwhile commits a book while the collector reads the books. The collector must then
// mark no package for deletion. Its next attempt must mark the package that nobody needs.
func TestLearntMeanwhile(t *testing.T) {
	w := newQuiet(t)
	w.pack(0, 20, one+"a")
	w.pack(0, 21, one+"a")
	own, err := partition.Open(t.Context(), w.bucket, 0, w.Now)
	if err != nil {
		t.Fatal(err)
	}
	collector := &collect.Collector{Partition: own, Bucket: w.bucket, Now: w.Now, Limits: w.Limits.Collect, Log: w.Log}
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Learnt = "more" })
	if err := collector.Outlived(t.Context()); err == nil || len(w.manifest(0).Packages) != 2 {
		t.Errorf("Outlived: %v, packages %+v", err, w.manifest(0).Packages)
	}
	if err := collector.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := collector.Outlived(t.Context()); err != nil || len(w.manifest(0).Packages) != 1 {
		t.Errorf("Outlived: %v, packages %+v", err, w.manifest(0).Packages)
	}
}
