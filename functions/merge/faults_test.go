package merge

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// TestMergeFailsAnywhere lets each call of the object store fail in turn during a merge. Another
// run must lead to the same segments as without the fault.
func TestMergeFailsAnywhere(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		w := newWorld(t)
		w.Tiers.Tier = 3
		w.index(1, 0, 1)
		w.index(1, 2, 3)
		w.index(2, 3, 4)
		w.decide = decide
		_ = w.Run(t.Context(), task.Tiers{})
		w.decide = nil
		w.run()
		m := w.manifest()
		if len(m.Segments) != 1 || len(m.Condemned) != 3 || m.Segments[0].Documents != 5 {
			t.Errorf("segments %+v, condemned %+v", m.Segments, m.Condemned)
		}
		if diff := cmp.Diff([]string{stands(0, 1), stands(1, 1), stands(2, 1), stands(3, 2), stands(4, 2)}, w.live()); diff != "" {
			t.Errorf("live (-want +got):\n%s", diff)
		}
	})
}

// TestAnotherMerges checks that Run does nothing while another process has the lease on merging.
func TestAnotherMerges(t *testing.T) {
	w := newWorld(t)
	w.full()
	leases := lease.New(w.Redis, "another")
	if _, _, err := leases.Acquire(t.Context(), "merge 0000", w.Now(), time.Minute); err != nil {
		t.Fatal(err)
	}
	w.run()
	if m := w.manifest(); len(m.Segments) != 8 {
		t.Errorf("%d segments", len(m.Segments))
	}
}

// TestTooLarge lets a merge fail because the merged segment would be too large. Its segments must stay as they are for
// asideTime, and others must be merged without them.
func TestTooLarge(t *testing.T) {
	w := newWorld(t)
	clock := functionstest.NewClock()
	w.Now = clock.Now
	w.full()
	if !w.setAside(t.Context(), w.manifest().Segments, fmt.Errorf("cannot merge: %w", segment.ErrTooLarge)) {
		t.Fatal("no segment is set aside")
	}
	w.run()
	if m := w.manifest(); len(m.Segments) != 8 {
		t.Errorf("%d segments, want all 8 as they were", len(m.Segments))
	}
	for n := range 8 {
		w.index(1, 100+n)
	}
	w.run()
	if m := w.manifest(); len(m.Segments) != 9 {
		t.Errorf("%d segments, want 8 and a merged one", len(m.Segments))
	}
	clock.Advance(asideTime)
	w.run()
	if m := w.manifest(); len(m.Segments) != 1 {
		t.Errorf("%d segments, when all are tried again", len(m.Segments))
	}
}

// TestDamaged damages one of the segments to be merged. This segment must stay as it is, for
// repair, and the others must be merged without it. When it has been repaired and asideTime has
// passed, it must be merged, too.
func TestDamaged(t *testing.T) {
	for name, harm := range map[string]func(w *world, key string, content []byte) error{
		"its beginning": func(w *world, key string, content []byte) error {
			content[len(content)/4] ^= 1
			return w.bucket.Replace(t.Context(), key, content)
		},
		"its end": func(w *world, key string, content []byte) error {
			return w.bucket.Replace(t.Context(), key, content[:len(content)-1])
		},
		"all of it": func(w *world, key string, _ []byte) error { return w.bucket.Delete(t.Context(), key) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			clock := functionstest.NewClock()
			w.Now = clock.Now
			w.full()
			key := w.manifest().Segments[2].Key
			content, err := w.bucket.Get(t.Context(), key, blob.Range{})
			if err != nil {
				t.Fatal(err)
			}
			if err := harm(w, key, slices.Clone(content)); err != nil {
				t.Fatal(err)
			}
			w.run()
			if m := w.manifest(); len(m.Segments) != 8 {
				t.Errorf("%d segments, when 7 of 8 can be read", len(m.Segments))
			}
			w.index(1, 100)
			w.run()
			if m := w.manifest(); len(m.Segments) != 2 || m.Segments[0].Key != key && m.Segments[1].Key != key {
				t.Errorf("segments %+v, want %s and one more", m.Segments, key)
			}
			if err := w.bucket.Replace(t.Context(), key, content); err != nil {
				t.Fatal(err)
			}
			for n := range 6 {
				w.index(1, 101+n)
			}
			w.run()
			if m := w.manifest(); len(m.Segments) != 8 {
				t.Errorf("%d segments, before it is looked at again", len(m.Segments))
			}
			clock.Advance(asideTime)
			w.run()
			if m := w.manifest(); len(m.Segments) != 1 {
				t.Errorf("%d segments, when all can be read", len(m.Segments))
			}
		})
	}
}
