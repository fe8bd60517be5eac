package verify_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestEveryBit flips bits in an object of every kind, one at a time. Verify must report each flip
// as a problem of the object. For a flip in the newest generation of the manifest, it may instead
// name the hint, the generation's copy.
func TestEveryBit(t *testing.T) {
	w := everyKind(t)
	if before := w.verify(); !before.Sound() {
		t.Fatal(sentences(before.Problems))
	}
	kinds := make(map[string]bool)
	for _, key := range functionstest.Keys(t, w.Bucket, "") {
		kind, _, _ := strings.Cut(key, "/")
		if kind = strings.TrimSuffix(kind, "/"); kind == "manifests" && key != layout.ManifestKey(0, w.Manifest().Generation) {
			continue
		}
		kinds[kind] = true
		t.Run(key, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(len(key))))
			content := w.Content(key)
			for range min(flips, 8*len(content)) {
				bit := random.IntN(8 * len(content))
				change(t, w, key, bit)
				report := w.verify()
				change(t, w, key, bit)
				if !named(report, key) {
					t.Fatalf("bit %d of %d is not noticed:\n%s", bit, 8*len(content), sentences(report.Problems))
				}
			}
		})
	}
	for _, kind := range strings.Fields("books clicks collections controls copies dead-letters epochs feedback hints judgments manifests overlays packages quarantine segments spool strategy takedowns") {
		if !kinds[kind] {
			t.Errorf("no bit of %s was flipped", kind)
		}
	}
}

// flips is the number of bits that are flipped in each object.
var flips = racetest.Rounds(20, 2)

func named(report verify.Report, key string) bool {
	for _, p := range report.Problems {
		if p.Key == key || strings.HasPrefix(key, layout.Manifests) && p.Key == layout.HintKey(0) {
			return true
		}
	}
	return false
}

func change(t *testing.T, w *world, key string, bit int) {
	t.Helper()
	content := w.Content(key)
	content[bit/8] ^= 1 << (bit % 8)
	if err := w.Bucket.Replace(t.Context(), key, content); err != nil {
		t.Fatal(err)
	}
}

// everyKind returns a sound bucket that holds objects of every kind.
func everyKind(t *testing.T) *world {
	w := &world{World: verifytest.Small(t)}
	oneOverlay(w)
	elsewhere, err := address.Parse("http://elsewhere.example/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takedown.Forget(t.Context(), w.Bucket, takedown.URL(elsewhere, functionstest.Start)); err != nil {
		t.Fatal(err)
	}
	_, err = control.Change(t.Context(), w.Bucket, func(d *control.Document) bool { d.Webhook = "http://hook.example/"; return true })
	if err != nil {
		t.Fatal(err)
	}
	letter, err := message.DeadLetter{Queue: "pack", Message: "1", Body: "{}", Reason: "test", At: functionstest.Start}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	clock := functionstest.NewClock()
	recorder := vitals.New(vitals.Options{Worker: "worker", Now: clock.Now})
	if _, err := recorder.Bucket("pack", w.Bucket).Head(t.Context(), layout.EpochKey(1)); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Flush(t.Context(), w.Bucket); err != nil {
		t.Fatal(err)
	}
	judged, sheet, err := judgment.Sheet{
		Judge: "ann", At: functionstest.Start, Query: judgment.Query{Text: "words"}, Marks: []judgment.Mark{{URL: site + "a", Grade: 2}},
	}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	click := judgment.Click{Day: judgment.DayOf(functionstest.Start), Query: judgment.Query{Text: "words"}, URL: site + "a", Position: 1}
	if err := judgment.PutClick(t.Context(), w.Bucket, click, 7); err != nil {
		t.Fatal(err)
	}
	waiting := verifytest.Batch(7)
	for key, content := range map[string][]byte{
		layout.DeadLetterKey("pack", layout.ContentHash([]byte("{}"))): letter,
		judged:             sheet,
		layout.EpochKey(2): layout.Claim{By: "test", Nonce: "1"}.Encode(),
		layout.QuarantineKey("segments/0000/old.seg", []byte("damaged")): []byte("damaged"),
		layout.SpoolKey(0, waiting): functionstest.Spool(t, spool.Ledger{Batch: waiting, Outcomes: []book.Outcome{
			functionstest.Outcome(t, waiting, site+"waits", book.Stored),
		}}),
	} {
		functionstest.Put(t, w.Bucket, key, content)
	}
	w.Commit(func(m *manifest.Manifest) { m.Forgotten = 1 })
	w.Delete(layout.EpochKey(1)) // an older program wrote such an epoch
	return w
}
