package sweep

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// complete runs the sweep and merge until all pages of the takedown are erased.
func (w *world) complete() {
	w.t.Helper()
	for range 2 {
		w.run()
		w.merge(0)
	}
	w.run()
	if m := w.manifest(0); m.Forgotten != 1 {
		w.t.Fatalf("forgotten %d", m.Forgotten)
	}
}

// TestForgetWhatNothingLists completes a takedown. Objects that no manifest lists must be deleted
// afterwards if they hold pages of the takedown.
func TestForgetWhatNothingLists(t *testing.T) {
	w := newForgetful(t)
	w.complete()
	w.clock.Advance(w.Limits.Collect.Grace)
	w.run()
	w.checkKeys(0)
}

// TestForgetWhatComesLate completes a takedown. After that, processes with older settings store a
// package that no manifest lists, and a damaged spool object in quarantine. These objects must be
// deleted, too.
func TestForgetWhatComesLate(t *testing.T) {
	w := newForgetful(t)
	w.complete()
	w.orphan(0, 30, gone)
	quarantined := layout.QuarantineKey(layout.SpoolKey(0, version(31)), []byte("damaged"))
	functionstest.Put(t, w.bucket, quarantined, []byte("damaged"))
	w.clock.Advance(w.Limits.Collect.Grace)
	w.run()
	if _, err := w.bucket.Head(t.Context(), quarantined); err == nil {
		t.Errorf("%s is still there", quarantined)
	}
	w.clock.Advance(w.Limits.Collect.Grace)
	w.run()
	w.checkKeys(0)
}

// TestErasedUnderAnotherName sweeps while a package and a book hold forgotten data, so that both must
// be written anew without it. The keys that the new objects would get are condemned (marked for
// deletion). The sweep must choose other keys for them.
func TestErasedUnderAnotherName(t *testing.T) {
	w := newForgetful(t)
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.ManifestPrefix(0)) {
			return faultblob.Before
		}
		return faultblob.None
	})
	_ = w.sweepAll() // puts the first book, and stops there
	w.Bucket = w.bucket
	known, doomed := w.manifest(0), []string(nil)
	for _, key := range functionstest.Keys(t, w.bucket, layout.Books+"0000/") {
		if !keysOf(&known)[key] {
			doomed = append(doomed, key)
		}
	}
	if len(doomed) != 2 { // the former package, and that of the orphan
		t.Fatalf("unlisted: %v", doomed)
	}
	former := known.Packages[0].Key
	doomed = append(doomed, strings.Replace(former, ".spf", "_4.spf", 1)) // the next free name
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Condemn(w.clock.Now(), doomed...) })
	w.run()
	m := w.manifest(0)
	for key := range keysOf(&m) {
		if slices.Contains(doomed, key) {
			t.Errorf("%s is listed and condemned", key)
		}
	}
	w.complete()
	w.clock.Advance(w.Limits.Collect.Grace)
	w.run()
	w.checkKeys(0)
	if got := w.stock(0).Pages; !slices.Equal(got, remains.Pages) {
		t.Errorf("pages %v", got)
	}
}

// TestQuietCostsLittle has no takedown. It checks that the sweep then looks only once a day for
// objects that no manifest lists, and never reads objects in quarantine.
func TestQuietCostsLittle(t *testing.T) {
	w := newQuiet(t)
	w.pack(0, 20, one+"a")
	functionstest.Put(t, w.bucket, layout.QuarantineKey(layout.SpoolKey(0, version(31)), []byte("damaged")), []byte("damaged"))
	w.bury(letter(gone))
	w.run()
	w.orphan(0, 30, gone)
	lists, books := 0, 0
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Get && strings.HasPrefix(c.Key, layout.Books) {
			books++
			return faultblob.None
		}
		for _, prefix := range []string{layout.Packages, layout.Books, layout.Segments, layout.Overlays, layout.Quarantine, layout.DeadLetters + "fetch/"} {
			// reads an orphan, which might be evidence of lost generations
			if !strings.HasPrefix(c.Key, prefix) || c.Op == faultblob.Get && prefix == layout.Packages {
				continue
			}
			if lists++; c.Op != faultblob.List || prefix == layout.Quarantine {
				t.Errorf("%s %s", c.Op, c.Key)
			}
		}
		return faultblob.None
	})
	w.run()
	w.clock.Advance(w.Limits.Collect.Grace - time.Millisecond)
	w.run()
	if lists != 0 || books != 0 {
		t.Errorf("looked %d times for what is unlisted, %d times into books", lists, books)
	}
	w.clock.Advance(time.Millisecond)
	w.run()
	if books != 3 { // each book once, when a page is due, and the book of the orphan
		t.Errorf("looked %d times into books", books)
	}
	if m := w.manifest(0); lists != 9 || len(m.Condemned) != 3 || !m.Condemned[0].Erase {
		t.Errorf("looked %d times for what is unlisted, condemned %+v", lists, m.Condemned)
	}
	w.Bucket = w.bucket
	w.clock.Advance(w.Limits.Collect.Grace)
	w.run()
	w.checkKeys(0)
}

// TestForgetBesideWhatIsNeverWrittenAnew has a segment with forgotten documents that merge has yet
// to write anew. Meanwhile the sweep must erase all other forgotten data, and warn of the segment.
// It must not read again what it has searched already, and must not record in the manifest that the
// takedowns are complete. It must record this when merge has written the segment.
func TestForgetBesideWhatIsNeverWrittenAnew(t *testing.T) {
	w := newForgetful(t)
	var log bytes.Buffer
	w.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	w.run()
	waiting := w.manifest(0).Segments[0].Key
	if strings.Contains(log.String(), waiting) {
		t.Errorf("warns before anybody had the time to merge:\n%s", log.String())
	}
	w.forget(nil, one+"c")
	w.run()
	if got, want := w.stock(0).Pages, []string{one + "a", one + "b"}; !slices.Equal(got, want) {
		t.Errorf("pages %v, want %v", got, want)
	}
	if m := w.manifest(0); m.Forgotten != 0 || m.Segments[0].Key != waiting || len(m.Segments) != 1 {
		t.Errorf("forgotten %d, segments %+v", m.Forgotten, m.Segments)
	}
	if !strings.Contains(log.String(), "segment="+waiting) {
		t.Errorf("no warning names %s:\n%s", waiting, log.String())
	}
	generation := w.manifest(0).Generation
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		for _, prefix := range []string{layout.PackagePrefix(0), layout.Books + "0000/", layout.Segments} {
			if c.Op == faultblob.Get && strings.HasPrefix(c.Key, prefix) {
				t.Errorf("%s is looked into again", c.Key)
			}
		}
		return faultblob.None
	})
	w.run()
	if m := w.manifest(0); m.Generation != generation {
		t.Errorf("generation %d after %d: something is done again", m.Generation, generation)
	}
	w.Bucket = w.bucket
	w.merge(0)
	w.run()
	if m := w.manifest(0); m.Forgotten != 2 {
		t.Errorf("forgotten %d", m.Forgotten)
	}
}
