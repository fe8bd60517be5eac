package repair_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

func init() { manifest.Small = 0 } // so that generations of small partitions are deltas, too

// deltas commits a large generation, and nine small changes of it. It returns the number of the large
// one, which is stored as a whole; those after it are stored as deltas.
func deltas(w *verifytest.World) uint64 {
	w.T.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	condemn := func(n int) manifest.Manifest {
		return w.Commit(func(m *manifest.Manifest) {
			for range n {
				m.Condemn(functionstest.Start, layout.BookKey(0, fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())))
			}
		})
	}
	first := condemn(500).Generation
	for range 9 {
		condemn(1)
	}
	for number := first; number <= first+9; number++ {
		e, err := manifest.GetEntry(w.T.Context(), w.Bucket, 0, number)
		if err != nil || e.IsWhole() != (number == first) {
			w.T.Fatalf("generation %d: whole is %v, %v", number, e.IsWhole(), err)
		}
	}
	return first
}

// TestDeltas damages or deletes deltas. If the hint copies the newest generation, or a delta after the damaged
// one, no change is lost: repair must then make the present state readable without the hint. The damaged
// generation itself is mended only if the hint copies this very generation.
func TestDeltas(t *testing.T) {
	whole := done(t)
	first := deltas(whole)
	newest := first + 9
	for name, test := range map[string]struct {
		broken, hint uint64
		say          string // what verify says of the broken generation
		left         int
	}{
		"in the middle, before the hint":    {first + 3, first + 5, "is needed by the generations after it, which only the hint can replace", 1},
		"in the middle, and the hint's":     {first + 5, first + 5, "is needed by the generations after it, which only the hint can replace", 1},
		"the checkpoint":                    {first, first + 5, "is needed by the generations after it, which only the hint can replace", 1},
		"the newest, which the hint copies": {newest, newest, layout.ManifestKey(0, newest), 0},
	} {
		for harmed, harm := range map[string]func(w *verifytest.World, key string){
			"deleted": func(w *verifytest.World, key string) { w.Delete(key) },
			"flipped": func(w *verifytest.World, key string) { w.Change(key, verifytest.Flip) },
		} {
			t.Run(name+", "+harmed, func(t *testing.T) {
				w := whole.Clone(t)
				want := w.Manifest()
				hint, err := manifest.At(t.Context(), w.Bucket, 0, test.hint)
				if err == nil {
					err = manifest.PutHint(t.Context(), w.Bucket, hint)
				}
				if err != nil {
					t.Fatal(err)
				}
				harm(w, layout.ManifestKey(0, test.broken))
				if before := check(w); len(before.Problems) != 1 || !strings.Contains(sentences(before.Problems), test.say) {
					t.Errorf("verify says, want %q:\n%s", test.say, sentences(before.Problems))
				}
				report := run(w)
				if len(report.Mended) != 1 || len(report.Left) != test.left || test.left > 0 && report.Left[0].Kind == verify.Lost {
					t.Errorf("mended %q, left:\n%s", report.Mended, sentences(report.Left))
				}
				w.Delete(layout.HintKey(0))
				got := w.Manifest()
				if got.Later() != nil || len(got.Condemned) != len(want.Condemned) || got.Generation < want.Generation {
					t.Errorf("generation %d with %d condemned, want %d with %d; later: %v", got.Generation, len(got.Condemned), want.Generation, len(want.Condemned), got.Later())
				}
				if again := run(w); len(again.Mended) > 0 {
					t.Errorf("mended again: %q", again.Mended)
				}
			})
		}
	}
}

// TestHintOfADelta replaces the hint by one that has the hash of a delta, but other contents than this delta.
// Verify must report it, and repair must replace it.
func TestHintOfADelta(t *testing.T) {
	w := done(t)
	newest := deltas(w) + 9
	want, err := manifest.At(t.Context(), w.Bucket, 0, newest)
	if err != nil {
		t.Fatal(err)
	}
	wrong := want.Clone()
	wrong.Condemned = wrong.Condemned[1:]
	if err := manifest.PutHint(t.Context(), w.Bucket, wrong); err != nil {
		t.Fatal(err)
	}
	if before := check(w); len(before.Problems) != 1 || !strings.Contains(sentences(before.Problems), layout.HintKey(0)+" is no copy of generation") {
		t.Errorf("verify says:\n%s", sentences(before.Problems))
	}
	if report := run(w); len(report.Mended) != 1 || len(report.Left) != 0 {
		t.Errorf("mended %q, left:\n%s", report.Mended, sentences(report.Left))
	}
	if hint, err := manifest.Hint(t.Context(), w.Bucket, 0); err != nil || !manifest.Equal(&hint, &want) {
		t.Errorf("the hint copies generation %d, %v", hint.Generation, err)
	}
}

// TestCondemnedList damages or deletes a list of condemned objects. Verify must report it, and repair
// must drop it, so that the objects that it names are found again.
func TestCondemnedList(t *testing.T) {
	whole := done(t)
	orphan := layout.BookKey(0, layout.ContentHash([]byte("orphan")))
	functionstest.Put(t, whole.Bucket, orphan, []byte("orphan"))
	whole.Commit(func(m *manifest.Manifest) { m.Condemn(functionstest.Start, orphan) })
	functionstest.Edit(t, whole.Bucket, 0, func(e *partition.Edit) error {
		_, err := e.ListCondemned(t.Context(), functionstest.Start.Add(time.Hour), 10)
		return err
	})
	key := whole.Manifest().CondemnedLists[0].Key
	if report := check(whole); !report.Sound() || report.Orphans != 0 || report.Waiting.Delete == 0 {
		t.Fatalf("%+v", report)
	}
	for name, harm := range map[string]func(w *verifytest.World, key string){
		"deleted":   func(w *verifytest.World, key string) { w.Delete(key) },
		"flipped":   func(w *verifytest.World, key string) { w.Change(key, verifytest.Flip) },
		"truncated": func(w *verifytest.World, key string) { w.Change(key, verifytest.Truncate) },
	} {
		t.Run(name, func(t *testing.T) {
			w := whole.Clone(t)
			harm(w, key)
			if before := check(w); len(before.Problems) == 0 || before.Problems[0].Key != key {
				t.Errorf("verify says:\n%s", sentences(before.Problems))
			}
			report := run(w)
			if len(report.Mended) != 1 || len(report.Left) != 0 {
				t.Errorf("mended %q, left:\n%s", report.Mended, sentences(report.Left))
			}
			if m := w.Manifest(); len(m.CondemnedLists) != 0 || check(w).Orphans != 1 {
				t.Errorf("lists %+v, %d orphans", m.CondemnedLists, check(w).Orphans)
			}
		})
	}
}

// TestCondemnedListAndBook deletes a list of condemned objects and a book. Repair must mend both: to have URLs
// fetched again, it stores a book, and for this it reads the lists.
func TestCondemnedListAndBook(t *testing.T) {
	w := done(t)
	w.Commit(func(m *manifest.Manifest) { m.Condemn(functionstest.Start, layout.BookKey(0, "none")) })
	functionstest.Edit(t, w.Bucket, 0, func(e *partition.Edit) error {
		_, err := e.ListCondemned(t.Context(), functionstest.Start.Add(time.Hour), 10)
		return err
	})
	w.Delete(w.Manifest().CondemnedLists[0].Key)
	w.Delete(w.Manifest().Books[0].Key)
	report := run(w)
	if len(report.Mended) < 3 || report.Fetch == 0 || len(report.Left) > 0 {
		t.Errorf("%d URLs to be fetched again, mended %q, left:\n%s", report.Fetch, report.Mended, sentences(report.Left))
	}
}

// TestDeltaLost damages a delta, and deletes the hint. The changes of this delta and of all later ones are lost.
// Repair must make a new generation from the generation before the damaged one.
func TestDeltaLost(t *testing.T) {
	w := done(t)
	first := deltas(w)
	w.Change(layout.ManifestKey(0, first+3), verifytest.Flip)
	w.Delete(layout.HintKey(0))
	if m := w.Manifest(); m.Generation != first+2 || m.Later() == nil {
		t.Errorf("generation %d serves, later: %v", m.Generation, m.Later())
	}
	if report := run(w); len(report.Left) > 0 || len(report.Mended) != 1 {
		t.Errorf("mended %q, left:\n%s", report.Mended, sentences(report.Left))
	}
	if m := w.Manifest(); m.Generation <= first+9 || m.Later() != nil || len(m.Condemned) < 500 {
		t.Errorf("generation %d with %d condemned, later: %v", m.Generation, len(m.Condemned), m.Later())
	}
	w.Settle(links...)
	sound(w, 4)
}
