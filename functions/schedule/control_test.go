package schedule

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// bucket returns the bucket with the settings. It also stops the caching of settings, so that every
// later run sees what the test changes in the bucket.
func (w *world) bucket() blob.Bucket {
	w.Settings.Age = 0
	return w.Settings.Bucket.(blob.Bucket)
}

func TestPause(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	var log bytes.Buffer
	w.Log = slog.New(slog.NewTextHandler(&log, nil))
	w.admit(1, "")
	set := func(p *control.Pause) {
		t.Helper()
		change := func(d *control.Document) bool { d.Pause = p; return true }
		if _, err := control.Change(t.Context(), w.bucket(), change); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when string, batches int, lines ...string) {
		t.Helper()
		for range 2 { // the second time, the reason is the same
			if got := w.run(); len(got) != batches {
				t.Errorf("%s: %d batches, want %d", when, len(got), batches)
			}
			batches = 0
		}
		for _, line := range lines {
			if n := strings.Count(log.String(), line); n != 1 {
				t.Errorf("%s: %q is logged %d times in\n%s", when, line, n, log.String())
			}
		}
		if n := strings.Count(log.String(), "\n"); n != len(lines) {
			t.Errorf("%s: %d lines, want %d:\n%s", when, n, len(lines), log.String())
		}
		log.Reset()
	}
	set(&control.Pause{By: control.Operator, Reason: "to sleep"})
	expect("paused", 0, `msg="the crawl is paused" by=operator reason="to sleep"`)
	set(&control.Pause{By: control.Limit, Reason: "too dear", Until: w.clock.Now().Add(time.Minute)})
	expect("paused for another reason", 0, `reason="too dear"`)
	w.clock.Advance(time.Minute)
	expect("the pause is over", 1, "the crawl goes on")
	set(nil)
	expect("resumed", 0)
}

// TestPauseFreesLeases pauses the crawl, and checks that the lease of a batch expires as usual, so
// that its URLs wait again.
func TestPauseFreesLeases(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	w.admit(1, "")
	w.run()
	wait := func(d *control.Document) bool {
		d.Pause = &control.Pause{By: control.Operator, Reason: "to sleep"}
		return true
	}
	if _, err := control.Change(t.Context(), w.bucket(), wait); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(w.Limits.Time + time.Millisecond)
	if batches := w.run(); batches != nil {
		t.Errorf("paused: %+v", batches)
	}
	if c := functionstest.Counts(t, w.Redis, 0); c.Batches != 0 || c.Waiting != 1 {
		t.Errorf("%+v, want the URL to wait", c)
	}
}

// TestForgotten admits URLs to the frontier, and then forgets a URL and a site by a takedown. No
// batch may contain the forgotten URL, a URL of the forgotten site, or the name of this site. The frontier
// must forget them, too, because nothing else may ever remove them from it.
func TestForgotten(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, nil)
		w.admit(3, "")
		functionstest.Admit(t, w.Redis, w.inForce, "http://forgotten.example/1", "http://www.forgotten.example/2")
		first, err := address.Parse(site + "0")
		if err != nil {
			t.Fatal(err)
		}
		entries := []takedown.Entry{takedown.URL(first, functionstest.Start), takedown.Site("forgotten.example", functionstest.Start)}
		if _, err := takedown.Forget(t.Context(), w.bucket(), entries...); err != nil {
			t.Fatal(err)
		}
		var urls []string
		for _, b := range w.run() {
			urls = append(urls, b.Host)
			urls = append(urls, b.Robots...)
			for _, target := range b.Targets {
				urls = append(urls, target.URL)
			}
		}
		if diff := cmp.Diff([]string{"a.example", "http://a.example", site + "1", site + "2"}, urls); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		if counts := functionstest.Counts(t, w.Redis, 0); counts.Waiting > 0 || counts.Leased != 2 || !counts.Missed {
			t.Errorf("%+v, want that the frontier has forgotten the URLs, too", counts)
		}
	})
}
