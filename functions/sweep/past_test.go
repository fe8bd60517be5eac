package sweep

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// checkPast checks that the stored generations of the manifest are those that must be kept, and
// that the stored overlays are those that these generations list.
func (w *world) checkPast(p layout.Partition) {
	w.t.Helper()
	newest := w.manifest(p)
	var manifests, overlays []string
	for n := max(newest.Oldest, 1); n <= newest.Generation; n++ {
		m, err := manifest.At(w.t.Context(), w.bucket, p, n)
		if err != nil {
			w.t.Fatal(err)
		}
		manifests = append(manifests, layout.ManifestKey(p, n))
		for key := range m.Objects() {
			if strings.HasPrefix(key, layout.Overlays) {
				overlays = append(overlays, key)
			}
		}
	}
	slices.Sort(overlays)
	got := functionstest.Keys(w.t, w.bucket, layout.ManifestPrefix(p))
	if diff := cmp.Diff(manifests, got); diff != "" {
		w.t.Errorf("generations (-kept +there):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Compact(overlays), functionstest.Keys(w.t, w.bucket, layout.OverlayPrefix(p))); diff != "" {
		w.t.Errorf("overlays (-kept +there):\n%s", diff)
	}
}

// there returns those of the keys under which an object exists.
func (w *world) there(keys ...string) (there []string) {
	for _, key := range keys {
		if _, err := w.bucket.Head(w.t.Context(), key); err == nil {
			there = append(there, key)
		}
	}
	return there
}

// TestCollect checks when condemned objects (those marked for deletion) are deleted. An ordinary
// object must be deleted after the grace period if no kept generation of the manifest lists it. An
// object that is to be erased must be deleted after this period even if a kept generation lists it.
func TestCollect(t *testing.T) {
	w := newQuiet(t)
	w.run()
	w.pack(0, 20, one+"a")
	listed := w.manifest(0).Packages[0].Key
	var keys []string
	for _, name := range []string{"kept", "erased", "later"} {
		key := layout.BookKey(0, name)
		keys = append(keys, key)
		functionstest.Put(t, w.bucket, key, nil)
	}
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) {
		m.Condemn(w.clock.Now(), keys[1], listed, layout.BookKey(0, "absent"))
		m.Erase()
		m.Condemn(w.clock.Now(), keys[0])
		m.Condemn(w.clock.Now().Add(time.Minute), keys[2])
	})
	all := append(keys, listed)
	w.clock.Advance(w.Limits.Collect.Grace - time.Millisecond)
	w.run()
	if got := w.there(all...); len(got) != 4 || len(w.manifest(0).Condemned) != 5 {
		t.Errorf("within the grace only %v are there", got)
	}
	w.clock.Advance(time.Millisecond)
	w.run()
	if diff := cmp.Diff([]string{keys[0], keys[2], listed}, w.there(all...)); diff != "" {
		t.Errorf("there (-want +got):\n%s", diff)
	}
	gone := func() (keys []string) {
		for _, c := range w.manifest(0).Condemned {
			if !c.Gone.IsZero() {
				keys = append(keys, c.Key)
			}
		}
		return keys
	}
	if diff := cmp.Diff([]string{keys[1], layout.BookKey(0, "absent")}, gone()); diff != "" || len(w.manifest(0).Condemned) != 4 {
		t.Errorf("gone and not to be listed again (-want +got):\n%s", diff)
	}
	w.clock.Advance(w.Limits.Collect.Past)
	w.run()
	if m := w.manifest(0); len(m.Condemned) != 2 || m.Condemned[0].Key != keys[0] {
		t.Errorf("condemned %+v", m.Condemned)
	}
	if got := w.there(keys[0], keys[2]); len(got) != 2 {
		t.Errorf("only %v are there, while a generation that is kept lists them", got)
	}
	w.clock.Advance(24 * time.Hour) // generations of at least so long are deleted at once
	w.run()
	if got := w.there(all...); len(got) != 1 {
		t.Errorf("%v are there", got)
	}
	if diff := cmp.Diff([]string{keys[0], keys[2]}, gone()); diff != "" {
		t.Errorf("gone and not to be listed again (-want +got):\n%s", diff)
	}
	w.clock.Advance(w.Limits.Collect.Grace)
	w.run()
	if m := w.manifest(0); len(m.Condemned) != 0 {
		t.Errorf("condemned %+v", m.Condemned)
	}
}

// TestCollectLists condemns many objects. A day later, the sweep must move their records from the manifest to a
// list. It must delete the objects when no kept generation lists any of them, or earlier if they are to be erased.
// After another grace period, it must remove the list.
func TestCollectLists(t *testing.T) {
	for _, erase := range []bool{false, true} {
		w := newQuiet(t)
		w.run()
		var keys []string
		for n := range 300 {
			key := layout.BookKey(0, layout.ContentHash([]byte{byte(n), byte(n >> 8)}))
			keys = append(keys, key)
			functionstest.Put(t, w.bucket, key, nil)
		}
		functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Condemn(w.clock.Now(), keys[:299]...) })
		w.clock.Advance(time.Hour)
		functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Condemn(w.clock.Now(), keys[299]) })
		check := func(when string, there, records, lists int) {
			t.Helper()
			m := w.manifest(0)
			if got := w.there(keys...); len(got) != there || len(m.Condemned) != records || len(m.CondemnedLists) != lists {
				t.Errorf("%s, erase %v: %d are there, want %d; %d records, want %d; lists %+v, want %d", when, erase, len(got), there, len(m.Condemned), records, m.CondemnedLists, lists)
			}
		}
		w.clock.Advance(22 * time.Hour)
		w.run()
		check("before a day", 300, 300, 0)
		w.clock.Advance(time.Hour)
		w.run()
		check("after a day", 300, 0, 1)
		if erase {
			functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Erase() })
			w.clock.Advance(time.Hour)
		} else {
			w.clock.Advance(w.Limits.Collect.Past - time.Hour)
			w.run()
			check("while generations that list them are kept", 300, 0, 1)
			w.clock.Advance(2 * w.Limits.Collect.Grace)
			w.run()
		}
		w.run()
		check("after the grace", 0, 0, 1)
		w.clock.Advance(w.Limits.Collect.Grace)
		w.run()
		check("after another grace", 0, 0, 0)
		w.clock.Advance(w.Limits.Collect.Past + 3*w.Limits.Collect.Grace)
		w.run()
		w.clock.Advance(w.Limits.Collect.Past + 3*w.Limits.Collect.Grace)
		w.run()
		w.checkPast(0)
	}
}

// TestThePastIsKept checks that queries about an earlier moment can be answered for as long as the
// manifest of that moment is kept: all objects that it lists exist.
func TestThePastIsKept(t *testing.T) {
	w := newQuiet(t)
	w.run()
	w.Limits.Tiers.Tier = 3
	type moment struct {
		at   time.Time
		hash string
	}
	var moments []moment
	for day := range uint64(30) {
		w.pack(0, 20+day, one+"a", one+string('b'+rune(day%5)))
		w.merge(0)
		w.run()
		m := w.manifest(0)
		moments = append(moments, moment{m.Time, m.Hash()})
		w.clock.Advance(12 * time.Hour)
	}
	oldest := w.manifest(0).Oldest
	if oldest < 2 {
		t.Fatal("nothing of the past was forgotten")
	}
	kept := 0
	for _, then := range moments {
		m, err := manifest.AsOf(t.Context(), w.bucket, 0, then.at)
		if w.clock.Now().Sub(then.at) > w.Limits.Collect.Past && err != nil {
			continue
		}
		if err != nil || m.Hash() != then.hash {
			t.Errorf("as of %v: generation %d, %v", then.at, m.Generation, err)
			continue
		}
		kept++
		for key := range m.Objects() {
			if len(w.there(key)) == 0 {
				t.Errorf("%s, which generation %d lists, is gone", key, m.Generation)
			}
		}
	}
	if kept < 14 || kept > 20 {
		t.Errorf("%d of %d moments can be asked for", kept, len(moments))
	}
	for range 2 { // one more sweep, for the last outlived package
		w.clock.Advance(w.Limits.Collect.Past + 2*w.Limits.Collect.Grace)
		w.run()
	}
	w.checkPast(0)
	if generations := functionstest.Keys(t, w.bucket, layout.ManifestPrefix(0)); len(generations) > 6 { // the checkpoint in force a week ago, and what followed it
		t.Errorf("%d generations are left of a month", len(generations))
	}
	w.checkKeys(0)
}

// TestAQuietPartitionIsQuiet sweeps a partition for two months in which nothing else changes it. In
// the second month the sweep may commit at most five generations (versions of the manifest).
func TestAQuietPartitionIsQuiet(t *testing.T) {
	w := newQuiet(t)
	w.pack(0, 20, one+"a")
	before := uint64(0)
	for range 60 {
		w.run()
		w.clock.Advance(12 * time.Hour)
	}
	before = w.manifest(0).Generation
	for range 60 {
		w.run()
		w.clock.Advance(12 * time.Hour)
	}
	if m := w.manifest(0); m.Generation > before+5 {
		t.Errorf("%d generations in a month in which nothing happened", m.Generation-before)
	}
}

// TestWrongClock checks that no generation of the manifest is deleted too early if one commit was
// made with a clock that was a year behind or ahead.
func TestWrongClock(t *testing.T) {
	for _, wrong := range []time.Duration{-365 * 24 * time.Hour, 365 * 24 * time.Hour} {
		w := newQuiet(t)
		w.pack(0, 20, one+"a")
		w.run()
		for day := range 4 {
			at := w.clock.Now()
			if day == 2 {
				at = at.Add(wrong)
			}
			if _, err := manifest.Commit(t.Context(), w.bucket, 0, func() time.Time { return at }, func(*manifest.Manifest) error { return nil }); err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(24 * time.Hour)
			w.run()
		}
		if m := w.manifest(0); m.Oldest > 1 {
			t.Errorf("a clock wrong by %v: generation %d of %d is the oldest that is kept", wrong, m.Oldest, m.Generation)
		}
	}
}
