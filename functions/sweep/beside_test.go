package sweep

import (
	"errors"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Objects that nobody here has written stop no sweep, and stay.
func TestSweepBesideForeignObjects(t *testing.T) {
	w := newQuiet(t)
	w.run()
	w.pack(0, 20, one+"a")
	foreign := []string{layout.ManifestPrefix(0) + "notes.txt", layout.OverlayPrefix(0) + "notes.txt"}
	for _, key := range foreign {
		functionstest.Put(t, w.bucket, key, []byte("notes"))
	}
	for range 20 {
		if err := w.bucket.Delete(t.Context(), layout.HintKey(0)); err != nil {
			t.Fatal(err)
		}
		w.run()
		w.clock.Advance(24 * time.Hour)
	}
	if w.manifest(0).Oldest < 2 {
		t.Error("no generation was forgotten")
	}
	if there := w.there(foreign...); len(there) != len(foreign) {
		t.Errorf("left are %q", there)
	}
}

// While the newest generation is damaged, nothing is committed or deleted.
func TestSweepBesideADamagedGeneration(t *testing.T) {
	w := newQuiet(t)
	w.run()
	w.pack(0, 20, one+"a")
	newest := layout.ManifestKey(0, w.manifest(0).Generation)
	if err := w.bucket.Replace(t.Context(), newest, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.bucket.Delete(t.Context(), layout.HintKey(0)); err != nil {
		t.Fatal(err)
	}
	before := functionstest.Keys(t, w.bucket, layout.Packages)
	before = append(before, functionstest.Keys(t, w.bucket, layout.ManifestPrefix(0))...)
	w.clock.Advance(30 * 24 * time.Hour)
	if err := w.Run(t.Context()); !errors.Is(err, manifest.ErrDamaged) {
		t.Errorf("swept with %v", err)
	}
	if there := w.there(before...); len(there) != len(before) {
		t.Errorf("of %q are left %q", before, there)
	}
}
