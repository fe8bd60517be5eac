package sweep

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
)

func TestOldFeedback(t *testing.T) {
	w := newQuiet(t)
	today := w.clock.Now()
	for days := range 12 {
		functionstest.Put(t, w.bucket, layout.FeedbackKey(today.AddDate(0, 0, -days), "w"), nil)
		functionstest.Put(t, w.bucket, layout.FeedbackKey(today.AddDate(0, 0, -days).Add(-time.Hour), "v"), nil)
	}
	w.run()
	got := functionstest.Keys(t, w.bucket, layout.Feedback)
	if oldest := layout.FeedbackDay(today.AddDate(0, 0, -8)); len(got) != 2*9 || !strings.HasPrefix(got[0], oldest) {
		t.Errorf("kept %d from %s on, want those from %s on", len(got), got[0], oldest)
	}
}

// TestOldClicks checks that the sweep deletes clicks older than 90 days, also those in quarantine,
// and keeps all later ones.
func TestOldClicks(t *testing.T) {
	w := newQuiet(t)
	today := w.clock.Now()
	for days := range 100 {
		key := layout.ClickKey(today.AddDate(0, 0, -days), layout.ContentHash(nil), days%64)
		functionstest.Put(t, w.bucket, key, nil)
		functionstest.Put(t, w.bucket, layout.QuarantineKey(key, nil), nil)
	}
	functionstest.Put(t, w.bucket, layout.Clicks+"19991231/notes.txt", nil)
	w.run()
	oldest := layout.ClickDay(today.AddDate(0, 0, -90))
	for prefix, first := range map[string]string{
		layout.Clicks + "20": oldest, layout.Quarantine: layout.QuarantinePrefix(oldest),
	} {
		if got := functionstest.Keys(t, w.bucket, prefix); len(got) != 91 || !strings.HasPrefix(got[0], first) {
			t.Errorf("kept %d from %s on, want 91 from %s on", len(got), got[0], first)
		}
	}
	if left := functionstest.Keys(t, w.bucket, layout.Clicks); len(left) != 92 {
		t.Errorf("a foreign object is deleted: %d are left", len(left))
	}
}

// TestFormerRuns: the sweep deletes the runs of a crawl partition that is no longer in force, once they are old.
func TestFormerRuns(t *testing.T) {
	w := newQuiet(t)
	w.run()
	former, foreign := layout.RunKey(77, layout.ContentHash(nil)), layout.RunPrefix(77)+"notes.txt"
	functionstest.Put(t, w.bucket, former, nil)
	functionstest.Put(t, w.bucket, foreign, nil)
	for _, step := range []struct {
		after time.Duration
		want  []string
	}{{0, []string{former, foreign}}, {w.Limits.Collect.Grace - time.Second, []string{former, foreign}}, {w.Limits.Collect.Grace + time.Second, []string{foreign}}} {
		w.clock.Advance(step.after)
		w.run()
		if diff := cmp.Diff(step.want, functionstest.Keys(t, w.bucket, layout.Runs)); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", step.after, diff)
		}
	}
}
