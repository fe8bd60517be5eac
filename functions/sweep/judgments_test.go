package sweep

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// TestForgetJudgments checks that a takedown of a page or a site erases the judgments of its pages
// and the clicks on them, and no others. Judgments and clicks that a query function with older
// settings stores later must be erased, too.
func TestForgetJudgments(t *testing.T) {
	w := newQuiet(t)
	judge := func(text string, urls ...string) string {
		s := judgment.Sheet{Judge: "ann", At: w.clock.Now(), Query: judgment.Query{Text: text}}
		for _, url := range urls {
			s.Marks = append(s.Marks, judgment.Mark{URL: url, Grade: 2})
		}
		if err := judgment.Put(t.Context(), w.bucket, s); err != nil {
			t.Fatal(err)
		}
		key, _, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	click := func(text, url string) {
		c := judgment.Click{Day: judgment.DayOf(w.clock.Now()), Query: judgment.Query{Text: text}, URL: url, Position: 1}
		if err := judgment.PutClick(t.Context(), w.bucket, c, 7); err != nil {
			t.Fatal(err)
		}
	}
	click("one", one+"a")
	keptClicks := functionstest.Keys(t, w.bucket, layout.Clicks)
	click("both", gone)
	kept := judge("one", one+"a", one+"b")
	judge("secrets", secret)
	judge("both", one+"a", gone)
	quarantined := layout.QuarantineKey(layout.JudgmentKey(layout.ContentHash(nil), nil), []byte("?"))
	functionstest.Put(t, w.bucket, quarantined, []byte("?"))
	functionstest.Put(t, w.bucket, layout.QuarantineKey(keptClicks[0], []byte("?")), []byte("?"))
	w.run()
	if got := functionstest.Keys(t, w.bucket, layout.Judgments); len(got) != 3 {
		t.Errorf("before the takedown: %v", got)
	}
	w.forget([]string{"secret.example"}, gone)
	w.run()
	check := func(when string) {
		t.Helper()
		want := sorted(kept, functionstest.Keys(t, w.bucket, layout.JudgmentPrefix(judgment.Query{Text: "both"}.Hash()))[0])
		got := functionstest.Keys(t, w.bucket, layout.Judgments)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
		if diff := cmp.Diff(keptClicks, functionstest.Keys(t, w.bucket, layout.Clicks)); diff != "" {
			t.Errorf("%s: clicks (-want +got):\n%s", when, diff)
		}
		for _, key := range got {
			content, err := w.bucket.Get(t.Context(), key, blob.Range{})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(content), gone) || strings.Contains(string(content), secret) {
				t.Errorf("%s: %s holds %s", when, key, content)
			}
		}
		if left := functionstest.Keys(t, w.bucket, layout.Quarantine); len(left) > 0 {
			t.Errorf("%s: in quarantine %v", when, left)
		}
	}
	check("after the takedown")
	judge("secrets again", secret)
	click("again", secret)
	w.clock.Advance(w.Limits.Collect.Grace)
	w.run()
	check("a grace later")
}
