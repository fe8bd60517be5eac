package sweep

import (
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

func (w *world) control(change func(*control.Document)) {
	w.t.Helper()
	if _, err := control.Change(w.t.Context(), w.bucket, func(d *control.Document) bool { change(d); return true }); err != nil {
		w.t.Fatal(err)
	}
}

// pause runs the sweep. It returns the pause of the crawl if the crawl is paused afterwards, else nil.
func (w *world) pause() *control.Pause {
	w.t.Helper()
	w.run()
	found, _, err := control.Find(w.t.Context(), w.bucket)
	if err != nil {
		w.t.Fatal(err)
	}
	return found.Document.Paused(w.clock.Now())
}

func TestStorageLimit(t *testing.T) {
	w := newQuiet(t)
	for p := range layout.Partition(2) {
		functionstest.Commit(t, w.bucket, p, func(m *manifest.Manifest) {
			m.Add(manifest.Package{Key: "packages/a", Bytes: 4e9, Indexed: true})
			m.Segments = append(m.Segments, manifest.Segment{Key: "segments/a", Bytes: 15e8, Documents: 1, Parts: []manifest.Part{{Documents: 1}}})
		})
	}
	if p := w.pause(); p != nil {
		t.Errorf("paused without a limit: %+v", p)
	}
	w.control(func(d *control.Document) { d.Limits.StorageBytes = 1e10 })
	const want = "11 GB are stored, and the limit is 10 GB; raise it (bucketsearch limits --storage) or forget pages"
	p := w.pause()
	if p == nil || p.By != control.Limit || p.Reason != want || !p.Until.IsZero() {
		t.Fatalf("pause %+v", p)
	}
	versions := len(functionstest.Keys(t, w.bucket, layout.Controls))
	w.clock.Advance(time.Minute)
	if p := w.pause(); p == nil || len(functionstest.Keys(t, w.bucket, layout.Controls)) != versions {
		t.Errorf("pause %+v, published again", p)
	}
	w.control(func(d *control.Document) { d.Limits.StorageBytes = 2e10 })
	if p := w.pause(); p != nil {
		t.Errorf("still paused after the limit was raised: %+v", p)
	}
}

func TestAnOperatorsPauseIsHis(t *testing.T) {
	w := newQuiet(t)
	his := control.Pause{By: control.Operator, Reason: "the site is being moved"}
	w.control(func(d *control.Document) { d.Pause = &his; d.Limits.StorageBytes = 1 })
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Add(manifest.Package{Key: "packages/a", Bytes: 2, Indexed: true}) })
	for range 2 {
		if p := w.pause(); p == nil || *p != his {
			t.Errorf("pause %+v", p)
		}
		w.control(func(d *control.Document) { d.Limits.StorageBytes = 3 })
	}
}

func TestDailyLimits(t *testing.T) {
	now := functionstest.Start
	midnight := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	limits := control.Limits{StorageBytes: 100, RequestsPerDay: 1000, USDPerDay: 2.5}
	for name, test := range map[string]struct {
		used  usage
		until time.Time
		want  string // reason of the pause; "" for none
	}{
		"none":     {usage{99, 999, 2.49}, time.Time{}, ""},
		"requests": {usage{99, 1000, 2.49}, midnight, "1000 requests were sent to the object store today, and the limit is 1000;"},
		"money":    {usage{99, 999, 2.5}, midnight, "2.5 USD were spent today, and the limit is 2.5;"},
		"all":      {usage{100, 1000, 2.5}, time.Time{}, "1e-07 GB are stored"}, // the pause that lasts longest
	} {
		d := control.Document{Limits: limits}
		if changed := test.used.enforce(&d, now); changed != (test.want != "") {
			t.Errorf("%s: changed %v", name, changed)
			continue
		}
		if test.want == "" {
			continue
		}
		if !strings.HasPrefix(d.Pause.Reason, test.want) || !d.Pause.Until.Equal(test.until) {
			t.Errorf("%s: %+v", name, d.Pause)
		}
		if err := d.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if test.used.enforce(&d, now.Add(time.Minute)) {
			t.Errorf("%s: changed again to %+v", name, d.Pause)
		}
		if none := (usage{}); !none.enforce(&d, midnight) || d.Pause != nil {
			t.Errorf("%s: the next day %+v", name, d.Pause)
		}
	}
	d := control.Document{Limits: limits}
	over := usage{requests: 1000}
	over.enforce(&d, now)
	if both := (usage{bytes: 100, requests: 1000}); !both.enforce(&d, now) || !d.Pause.Until.IsZero() {
		t.Errorf("a limit that lasts longer does not take the place of the day's: %+v", d.Pause)
	}
	if over.enforce(&d, now); !d.Pause.Until.Equal(midnight) {
		t.Errorf("the day's limit is forgotten: %+v", d.Pause)
	}
}
