package repair_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/curation"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestApart is about objects that no manifest lists, such as collections, takedowns and clicks. Each
// case damages one such object, and deletes its second copy if it has one. Repair must keep the
// damaged bytes in quarantine. If the object was a version of a published document, such as a
// collection, repair must publish a new version, made from what can still be read. Reading the
// settings after the repair must give no warning of damage.
func TestApart(t *testing.T) {
	whole := done(t)
	again := whole.Settings.Collections[0]
	again.Again = functionstest.Start
	if _, err := collection.Publish(t.Context(), whole.Bucket, again); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"http://hook.example/", "http://hook.example/2"} {
		_, err := control.Change(t.Context(), whole.Bucket, func(d *control.Document) bool { d.Webhook = hook; return true })
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []string{"http://b.example/", "http://b.example/2"} {
		if _, err := curation.Publish(t.Context(), whole.Bucket, curation.Document{Bans: []curation.Ban{{Pages: []string{page}}}}); err != nil {
			t.Fatal(err)
		}
	}
	forgotten, err := address.Parse("http://elsewhere.example/")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range []takedown.Entry{takedown.URL(forgotten, functionstest.Start), takedown.Site("other.example", functionstest.Start)} {
		if _, err := takedown.Forget(t.Context(), whole.Bucket, entry); err != nil {
			t.Fatal(err)
		}
	}
	copied := layout.QuarantineKey("segments/0000/old.seg", []byte("damaged"))
	functionstest.Put(t, whole.Bucket, copied, []byte("damaged"))
	functionstest.Put(t, whole.Bucket, layout.EpochKey(8), layout.Claim{By: "test"}.Encode())
	functionstest.Put(t, whole.Bucket, layout.FeedbackKey(functionstest.Start, "worker"), layout.Seal([]byte(`{"worker":"worker"}`)))
	functionstest.Put(t, whole.Bucket, layout.DeadLetterKey("pack", layout.ContentHash([]byte("{}"))), layout.Seal([]byte(`{"queue":"pack","body":"{}"}`)))
	judged, sheet, err := judgment.Sheet{
		Judge: "ann", At: functionstest.Start, Query: judgment.Query{Text: "words"}, Marks: []judgment.Mark{{URL: "http://b.example/", Grade: 2}},
	}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	functionstest.Put(t, whole.Bucket, judged, sheet)
	click := judgment.Click{Day: judgment.DayOf(functionstest.Start), Query: judgment.Query{Text: "words"}, URL: "http://b.example/", Position: 1}
	if err := judgment.PutClick(t.Context(), whole.Bucket, click, 7); err != nil {
		t.Fatal(err)
	}
	clicked := functionstest.Keys(t, whole.Bucket, layout.Clicks)[0]
	due := layout.DueKey(0, []byte("books"))
	functionstest.Put(t, whole.Bucket, due, []byte("books"))
	finished := layout.RunKey(0, layout.ContentHash([]byte("states")))
	functionstest.Put(t, whole.Bucket, finished, []byte("states"))
	name := again.Name
	for key, want := range map[string]string{ // key that must exist after the repair, for each damaged object
		layout.StrategyKey("crawl", 1):                                 layout.StrategyKey("crawl", 2),
		layout.StrategyKey("storage", 1):                               layout.StrategyKey("storage", 2),
		layout.CollectionKey(name, 1):                                  layout.CollectionKey(name, 2),
		layout.CollectionKey(name, 2):                                  layout.CollectionKey(name, 3),
		layout.ControlKey(2):                                           layout.ControlKey(3),
		layout.CurationKey(2):                                          layout.CurationKey(3),
		layout.TakedownKey(1):                                          layout.TakedownKey(2),
		layout.TakedownKey(2):                                          layout.TakedownKey(3),
		layout.EpochKey(8):                                             layout.EpochKey(9),
		layout.FeedbackKey(functionstest.Start, "worker"):              "",
		layout.DeadLetterKey("pack", layout.ContentHash([]byte("{}"))): "",
		judged:   "",
		clicked:  "",
		due:      "",
		finished: "",
		copied:   layout.QuarantinePrefix("segments/0000/old.seg@"),
	} {
		for how, damage := range map[string]func([]byte) []byte{
			"flipped": verifytest.Flip, "truncated": verifytest.Truncate, "zeros": func(b []byte) []byte { return make([]byte, len(b)) },
		} {
			t.Run(how+" "+key, func(t *testing.T) {
				w := whole.Clone(t)
				w.Change(key, damage)
				withoutCopy(w, key)
				report := run(w)
				t.Logf("mended:\n%s\nleft:\n%s", strings.Join(report.Mended, "\n"), sentences(report.Left))
				if len(report.Left) > 0 || len(report.Mended) != 1 || !strings.Contains(report.Mended[0], key) {
					t.Errorf("mended %q and left %d", report.Mended, len(report.Left))
				}
				if key != copied {
					quarantined(w, key)
				}
				if want != "" && len(functionstest.Keys(t, w.Bucket, want)) != 1 {
					t.Errorf("%s is not there", want)
				}
				s, err := settings.Read(t.Context(), w.Bucket, functionstest.Start)
				if err != nil || len(s.Warnings) > 0 || s.Control.Pause != nil || !s.Takedowns.Forgets(forgotten) {
					t.Errorf("settings %+v, %v", s, err)
				}
			})
		}
	}
}

// TestForgottenJudgments checks that repair erases judgments of a forgotten URL, and clicks on it,
// but only after all other data of the URL have been erased from the partitions.
func TestForgottenJudgments(t *testing.T) {
	w := done(t)
	page, err := address.Parse("http://elsewhere.example/")
	if err != nil {
		t.Fatal(err)
	}
	s := judgment.Sheet{
		Judge: "ann", At: functionstest.Start, Query: judgment.Query{Text: "words"},
		Marks: []judgment.Mark{{URL: "http://b.example/", Grade: 2}, {URL: page.URL, Grade: 1}},
	}
	if err := judgment.Put(t.Context(), w.Bucket, s); err != nil {
		t.Fatal(err)
	}
	click := judgment.Click{Day: judgment.DayOf(s.At), Query: s.Query, URL: page.URL, Position: 1}
	if err := judgment.PutClick(t.Context(), w.Bucket, click, 7); err != nil {
		t.Fatal(err)
	}
	if _, err := takedown.Forget(t.Context(), w.Bucket, takedown.URL(page, functionstest.Start)); err != nil {
		t.Fatal(err)
	}
	if report := run(w); len(report.Mended)+len(report.Left) > 0 {
		t.Errorf("mended %q while partitions wait to forget, left:\n%s", report.Mended, sentences(report.Left))
	}
	w.Commit(func(m *manifest.Manifest) { m.Forgotten = 1 })
	report := run(w)
	if len(report.Left) > 0 || len(report.Mended) != 1 || !strings.Contains(report.Mended[0], "2 of the judgments") {
		t.Errorf("mended %q, left:\n%s", report.Mended, sentences(report.Left))
	}
	keys := functionstest.Keys(t, w.Bucket, layout.Judgments)
	if len(keys) != 1 || strings.Contains(string(w.Content(keys[0])), page.URL) {
		t.Errorf("left %v", keys)
	}
	if keys := functionstest.Keys(t, w.Bucket, layout.Clicks); len(keys) > 0 {
		t.Errorf("left %v", keys)
	}
}

func withoutCopy(w *verifytest.World, version string) {
	w.T.Helper()
	for _, key := range functionstest.Keys(w.T, w.Bucket, layout.CopyKey(version)) {
		w.Delete(key)
	}
}

// TestApartLost damages published documents of which no copy is left, so that they cannot be
// restored. The first are the controls, which hold the operator's limits of storage: repair must
// pause the crawl, until the operator sets the limits again. The second is the only collection:
// repair must fail, until the collection is published again.
func TestApartLost(t *testing.T) {
	w := done(t)
	_, err := control.Change(t.Context(), w.Bucket, func(d *control.Document) bool { d.Limits.StorageBytes = 1; return true })
	if err != nil {
		t.Fatal(err)
	}
	withoutCopy(w, layout.ControlKey(1))
	w.Change(layout.ControlKey(1), verifytest.Truncate)
	if report := run(w); len(report.Left) > 0 {
		t.Errorf("left:\n%s", sentences(report.Left))
	}
	if found, _, err := control.Find(t.Context(), w.Bucket); err != nil || found.Document.Pause == nil || found.Document.Pause.By != control.Operator {
		t.Errorf("controls %+v, %v", found.Document, err)
	}
	missing := w.Settings.Collections[0]
	withoutCopy(w, layout.CollectionKey(missing.Name, 1))
	w.Change(layout.CollectionKey(missing.Name, 1), verifytest.Truncate)
	if _, err := repairer(w.Bucket).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "without collections") {
		t.Errorf("repaired without a collection: %v", err)
	}
	if published, err := collection.Publish(t.Context(), w.Bucket, missing); err != nil || published.Version != 2 {
		t.Fatalf("published version %d, %v", published.Version, err)
	}
	if report := run(w); len(report.Left) > 0 {
		t.Errorf("left:\n%s", sentences(report.Left))
	}
}

// TestCopied damages or deletes a published document or its copy. Readers must not notice the
// damage, and repair must restore the object's bytes.
func TestCopied(t *testing.T) {
	whole := done(t)
	forgotten, err := address.Parse("http://elsewhere.example/")
	if err == nil {
		_, err = takedown.Forget(t.Context(), whole.Bucket, takedown.URL(forgotten, functionstest.Start))
	}
	if err == nil {
		_, err = control.Change(t.Context(), whole.Bucket, func(d *control.Document) bool { d.Webhook = "http://hook.example/"; return true })
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{
		layout.StrategyKey("crawl", 1), layout.StrategyKey("storage", 1), layout.CollectionKey(whole.Settings.Collections[0].Name, 1),
		layout.ControlKey(1), layout.TakedownKey(1),
	} {
		content := whole.Content(version)
		for _, key := range []string{version, layout.CopyKey(version)} {
			for how, damage := range map[string]func(w *verifytest.World){
				"flipped": func(w *verifytest.World) { w.Change(key, verifytest.Flip) },
				"emptied": func(w *verifytest.World) { w.Change(key, func([]byte) []byte { return nil }) },
				"deleted": func(w *verifytest.World) { w.Delete(key) },
			} {
				t.Run(how+" "+key, func(t *testing.T) {
					w := whole.Clone(t)
					damage(w)
					deleted := how == "deleted"
					s, err := settings.Read(t.Context(), w.Bucket, functionstest.Start)
					if !deleted && (err != nil || s.Control.Pause != nil || len(s.Collections) != 1 || !s.Takedowns.Forgets(forgotten)) {
						t.Errorf("before the repair: %+v, %v", s, err)
					}
					report := run(w)
					want := key
					if deleted && key != version {
						want = "1 of the published documents had no copy"
					}
					if len(report.Left) > 0 || len(report.Mended) != 1 || !strings.Contains(report.Mended[0], want) || !bytes.Equal(w.Content(key), content) {
						t.Errorf("mended %q and left:\n%s", report.Mended, sentences(report.Left))
					}
					if !deleted {
						quarantined(w, key)
					}
				})
			}
		}
	}
}

// The hint of the settings is written again if it is damaged. Until then, readers list the documents.
func TestDamagedSettingsHint(t *testing.T) {
	w := done(t)
	whole := w.Content(layout.SettingsHint)
	w.Change(layout.SettingsHint, verifytest.Flip)
	report := run(w)
	if len(report.Left) > 0 || len(report.Mended) != 1 || !strings.Contains(report.Mended[0], layout.SettingsHint) {
		t.Errorf("mended %q and left:\n%s", report.Mended, sentences(report.Left))
	}
	if diff := cmp.Diff(string(whole), string(w.Content(layout.SettingsHint))); diff != "" {
		t.Errorf("hint (-want +got):\n%s", diff)
	}
}

// TestWrongNumbers changes a number of URLs in the census. Verify must find it, and repair must delete the census.
func TestWrongNumbers(t *testing.T) {
	w := done(t)
	s := w.Settings
	books, err := account.Survey(t.Context(), w.Bucket, s)
	if err != nil {
		t.Fatal(err)
	}
	counted, err := new(census.Census).Update(t.Context(), w.Bucket, books, s, functionstest.Start, census.Extent{})
	if err != nil {
		t.Fatal(err)
	}
	counted.Parts[0].All.Stored++
	if err := counted.Save(t.Context(), w.Bucket, books); err != nil {
		t.Fatal(err)
	}
	report := run(w)
	if len(report.Left) > 0 || len(report.Mended) != 1 || !strings.Contains(report.Mended[0], layout.Census) {
		t.Errorf("mended %q and left:\n%s", report.Mended, sentences(report.Left))
	}
	if c, err := census.Read(t.Context(), w.Bucket); err != nil || len(c.Parts) > 0 {
		t.Errorf("%+v, %v", c, err)
	}
}
