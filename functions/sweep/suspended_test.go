package sweep

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// allThere checks that the newest manifest of a partition lists only objects that exist.
func (w *world) allThere(p layout.Partition) {
	w.t.Helper()
	m := w.manifest(p)
	for key := range m.Objects() {
		if len(w.there(key)) == 0 {
			w.t.Errorf("generation %d lists %s, which is gone", m.Generation, key)
		}
	}
}

// TestCollectedTwice has two sweeps that are about to delete the same segments. The second deletes
// them while the first is suspended. Then the packages of the segments are indexed again, which may
// make segments with the same keys. When the first sweep goes on, it must not delete a segment that
// the manifest lists now.
func TestCollectedTwice(t *testing.T) {
	w := newQuiet(t)
	w.Limits.Tiers.Tier = 3
	w.run()
	w.pack(0, 20, one+"a")
	w.pack(0, 21, one+"b")
	w.pack(0, 22, one+"c")
	w.merge(0)
	for range 10 {
		w.clock.Advance(24 * time.Hour)
		functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) {})
	}
	var once sync.Once
	found := false
	first := &Function{Redis: w.Redis, Sender: new(functionstest.Sender), Now: w.Now, Worker: "first", Limits: w.Limits, Log: functionstest.Log()}
	first.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op != faultblob.Delete || !strings.HasPrefix(c.Key, layout.Segments) {
			return faultblob.None
		}
		once.Do(func() {
			found = true
			w.run()
			if len(w.there(c.Key)) != 0 {
				t.Errorf("the second did not delete %s", c.Key)
			}
			if _, err := w.Reindex(t.Context(), nil); err != nil {
				t.Error(err)
			}
			w.index(0)
		})
		return faultblob.None
	})
	if err := sweepAll(t.Context(), first); err != nil || !found {
		t.Fatalf("found something to delete: %v; %v", found, err)
	}
	w.allThere(0)
}

// TestSuspendedWriter suspends a function for days after it has stored an object and before its
// commit. The sweep deletes the object meanwhile. No manifest may then list the missing object.
func TestSuspendedWriter(t *testing.T) {
	w := newQuiet(t)
	w.run()
	pkg, _ := functionstest.Package(t, w.bucket, 0, functionstest.Page(version(20), one+"a"))
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Add(pkg) })
	put := ""
	var suspend sync.Once // the base of a commit is read by several requests at once
	slow := faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		switch {
		case c.Op == faultblob.Create && put == "":
			put = c.Key
		case c.Op == faultblob.Get && strings.HasPrefix(c.Key, layout.ManifestPrefix(0)) && put != "": // before it reads the base of its commit
			suspend.Do(func() {
				for range 6 {
					w.clock.Advance(25 * time.Hour)
					w.run()
				}
				if m := w.manifest(0); len(w.there(put)) > 0 || m.IsCondemned(put) {
					t.Errorf("%s is not collected and forgotten about", put)
				}
			})
		}
		return faultblob.None
	})
	f := &index.Function{Bucket: slow, Settings: new(functionstest.Fixed), Redis: w.Redis, Sender: new(functionstest.Sender), Now: w.Now, Worker: "i", Tiers: w.Limits.Tiers, Log: functionstest.Log()}
	if err := f.Run(t.Context(), pkg.Key); err != nil {
		t.Fatal(err)
	}
	if m := w.manifest(0); len(m.Segments) != 1 {
		t.Errorf("segments %+v", m.Segments)
	}
	w.allThere(0)
}

// TestSuspendedCollector deletes three objects, and suspends the process for too long after the
// first deletion. A commit may list one of the other objects meanwhile, so Delete must not delete
// them, and must fail.
func TestSuspendedCollector(t *testing.T) {
	w := newQuiet(t)
	keys := []string{"a", "b", "c"}
	for _, key := range keys {
		functionstest.Put(t, w.bucket, key, nil)
	}
	var calls atomic.Int32
	w.Now = func() time.Time {
		if calls.Add(1) > 2 { // at the second deletion
			return w.clock.Now().Add(manifest.Fresh)
		}
		return w.clock.Now()
	}
	// The first deletion may be cancelled, too: deletions run at the same time.
	if err := collect.Delete(t.Context(), w.bucket, w.Now, keys); err == nil || len(w.there(keys...)) < 2 {
		t.Errorf("%v are there, %v", w.there(keys...), err)
	}
}

// TestStaleHint keeps the hint (a copy of the newest manifest) at an old generation: attempts to
// replace it fail. Readers begin at the generation in the hint, and go on to the newest one.
//
// In the first case, all attempts fail. The sweep must then delete neither the generation in the
// hint nor a later one. In the second case, the hint can be replaced again as soon as the sweep
// deletes old generations. In the end, the hint must have a generation that the sweep keeps.
func TestStaleHint(t *testing.T) {
	for _, forGood := range []bool{true, false} {
		w := newQuiet(t)
		w.run()
		w.pack(0, 20, one+"a")
		forgotten := 0
		w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
			if c.Op != faultblob.Replace || c.Key != layout.HintKey(0) {
				return faultblob.None
			}
			if w.manifest(0).Oldest > 0 {
				forgotten++
			}
			if forGood || forgotten < 2 { // what follows the commit fails, and not the commit
				return faultblob.Before
			}
			return faultblob.None
		})
		for range 12 {
			if _, err := manifest.Commit(t.Context(), w.Bucket, 0, w.Now, func(m *manifest.Manifest) error { return nil }); err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(24 * time.Hour)
		}
		before := functionstest.Keys(t, w.bucket, layout.ManifestPrefix(0))
		err := w.sweepAll()
		if m := w.manifest(0); m.Oldest == 0 || m.Generation <= uint64(len(before)) {
			t.Fatalf("generation %d says that %d is the oldest that is kept, %v", m.Generation, m.Oldest, err)
		}
		if !forGood {
			w.checkPast(0)
			if hint, err := manifest.Hint(t.Context(), w.bucket, 0); err != nil || hint.Generation < w.manifest(0).Oldest {
				t.Errorf("the hint is of generation %d, %v", hint.Generation, err)
			}
			continue
		}
		if diff := cmp.Diff(before, functionstest.Keys(t, w.bucket, layout.ManifestPrefix(0))[:len(before)]); diff != "" || !errors.Is(err, blob.ErrRetryable) {
			t.Errorf("generations, %v (-before +after):\n%s", err, diff)
		}
	}
}
