package sweep

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// complete sweeps and indexes until nothing is left of what is forgotten.
func (w *world) complete() {
	w.t.Helper()
	for range 2 {
		w.run()
		w.index(0)
	}
	w.run()
	if m := w.manifest(0); m.Forgotten != 1 {
		w.t.Fatalf("forgotten %d", m.Forgotten)
	}
}

// What nothing lists when a takedown is complete is condemned by then.
func TestForgetWhatNothingLists(t *testing.T) {
	w := newForgetful(t)
	w.complete()
	w.clock.Advance(w.Limits.Grace)
	w.run()
	w.checkKeys(0)
}

// What comes when a takedown is complete, from those who knew nothing of it,
// goes too: a package that is never listed, and a damaged spool object.
func TestForgetWhatComesLate(t *testing.T) {
	w := newForgetful(t)
	w.complete()
	w.orphan(0, 30, gone)
	quarantined := layout.QuarantineKey(layout.SpoolKey(0, version(31)))
	functionstest.Put(t, w.bucket, quarantined, []byte("damaged"))
	w.clock.Advance(w.Limits.Grace)
	w.run()
	if _, err := w.bucket.Head(t.Context(), quarantined); err == nil {
		t.Errorf("%s is still there", quarantined)
	}
	w.clock.Advance(w.Limits.Grace)
	w.run()
	w.checkKeys(0)
}

// Nothing is listed under a key that is condemned: another copy is.
func TestErasedUnderAnotherName(t *testing.T) {
	w := newForgetful(t)
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.ManifestPrefix(0)) {
			return faultblob.Before
		}
		return faultblob.None
	})
	_ = w.Run(t.Context()) // puts the first book, and gets no further
	w.Bucket = w.bucket
	known, doomed := w.manifest(0), []string(nil)
	for _, key := range functionstest.Keys(t, w.bucket, layout.Books+"0000/") {
		if !keysOf(&known)[key] {
			doomed = append(doomed, key)
		}
	}
	if len(doomed) != 2 { // and the one of the orphan
		t.Fatalf("unlisted: %v", doomed)
	}
	former := known.Packages[0].Key
	doomed = append(doomed, strings.Replace(former, ".spf", "_4.spf", 1)) // the next that is free
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Condemn(w.clock.Now(), doomed...) })
	w.run()
	m := w.manifest(0)
	for key := range keysOf(&m) {
		if slices.Contains(doomed, key) {
			t.Errorf("%s is listed and condemned", key)
		}
	}
	w.complete()
	w.clock.Advance(w.Limits.Grace)
	w.run()
	w.checkKeys(0)
	if got := w.stock(0).Pages; !slices.Equal(got, remains.Pages) {
		t.Errorf("pages %v", got)
	}
}

// Without a takedown nobody looks for what is unlisted.
func TestQuietCostsNothing(t *testing.T) {
	w := newQuiet(t)
	w.pack(0, 20, one+"a")
	w.orphan(0, 30, gone)
	functionstest.Put(t, w.bucket, layout.QuarantineKey(layout.SpoolKey(0, version(31))), []byte("damaged"))
	w.bury(letter(gone))
	w.run()
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		for _, prefix := range []string{layout.Packages, layout.Books, layout.Segments, layout.Quarantine, layout.DeadLetters + "fetch/"} {
			if strings.HasPrefix(c.Key, prefix) {
				t.Errorf("%s %s", c.Op, c.Key)
			}
		}
		return faultblob.None
	})
	w.clock.Advance(w.Limits.Grace)
	w.run()
}

// A package that is never indexed again keeps later takedowns from being
// complete, and from nothing else. Nothing is looked into twice.
func TestForgetBesideWhatIsNeverIndexed(t *testing.T) {
	w := newForgetful(t)
	var log bytes.Buffer
	w.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	w.run()
	waiting := w.manifest(0).Packages[0].Key
	if strings.Contains(log.String(), waiting) {
		t.Errorf("warns before anybody had the time to index:\n%s", log.String())
	}
	w.forget(nil, one+"c")
	w.run()
	if got, want := w.stock(0).Pages, []string{one + "a", one + "b"}; !slices.Equal(got, want) {
		t.Errorf("pages %v, want %v", got, want)
	}
	if m := w.manifest(0); m.Forgotten != 0 || m.Packages[0].Key != waiting || m.Packages[0].Indexed {
		t.Errorf("forgotten %d, packages %+v", m.Forgotten, m.Packages)
	}
	if !strings.Contains(log.String(), "package="+waiting) {
		t.Errorf("no warning names %s:\n%s", waiting, log.String())
	}
	generation := w.manifest(0).Generation
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Get && (strings.HasPrefix(c.Key, layout.PackagePrefix(0)) || strings.HasPrefix(c.Key, layout.Books+"0000/")) {
			t.Errorf("%s is looked into again", c.Key)
		}
		return faultblob.None
	})
	w.run()
	if m := w.manifest(0); m.Generation != generation {
		t.Errorf("generation %d after %d: something is done again", m.Generation, generation)
	}
	w.index(0)
	w.run()
	if m := w.manifest(0); m.Forgotten != 2 {
		t.Errorf("forgotten %d", m.Forgotten)
	}
}
