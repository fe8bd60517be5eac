package simulation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

// quiet crawls a site in a run without faults. It returns the final result, and the work of the
// run: its numbers of requests and created objects.
func quiet(t *testing.T, m *memories, s *site) (want result, took work) {
	t.Helper()
	return quietOf(t, m, s, false)
}

// quietOf crawls a site without faults, as quiet does. If forgotten is true, it then publishes a
// takedown (a list of what is to be erased), and goes on until the listed pages are erased.
func quietOf(t *testing.T, m *memories, s *site, forgotten bool) (want result, took work) {
	t.Helper()
	inWorld(t, m, plan{site: s}, func(w *world) {
		w.run()
		if forgotten {
			w.forget()
			w.run()
		}
		want = w.result()
		took = w.taken()
		w.check(want)
		for _, m := range w.runners[0].queue.dead {
			w.t.Errorf("message to %s was given up: %s", m.function, m.body)
		}
	})
	return want, took
}

// TestLives: in each life (a kind of run), segments must be merged, and objects that nothing needs
// any more must be deleted. Other tests repeat the lives with faults. So their faults also come
// while segments are merged and objects are deleted.
func TestLives(t *testing.T) {
	m := newMemories(t)
	for _, l := range lives(t, m) {
		inWorld(t, m, l.plan, func(w *world) {
			l.start(w)
			w.run()
			t.Logf("%s: %v, deleted %v", l.name, w.work, w.deleted)
			if w.work.merges == 0 {
				t.Errorf("%s: nothing was merged", l.name)
			}
			want := []string{layout.Manifests, layout.Segments}
			if l.begin != nil {
				want = append(want, layout.Overlays, layout.Books)
			}
			if !w.inForce.Takedowns.Empty() { // packages are written anew without forgotten pages
				want = append(want, layout.Packages)
			}
			for _, prefix := range want {
				if w.deleted[prefix] == 0 {
					t.Errorf("%s: nothing was deleted below %s: %v", l.name, prefix, w.deleted)
				}
			}
		})
	}
}

// TestQuiet checks the result of a crawl without faults. Other tests compare this result with
// those of crawls with faults.
func TestQuiet(t *testing.T) {
	m := newMemories(t)
	got, took := quiet(t, m, small)
	t.Logf("%+v", took)
	want := map[string]string{
		"http://one.example/":             "stored ",
		"http://one.example/gull":         "stored ",
		"http://one.example/gull/2":       "stored ",
		"http://one.example/gull/3":       "stored ",
		"http://one.example/heron":        "stored ",
		"http://one.example/new":          "stored ",
		"http://one.example/notes.txt":    "stored ",
		"http://two.example/":             "stored ",
		"http://two.example/reed":         "stored ",
		"http://two.example/reed/bittern": "stored ",
		"http://two.example/reed/rail":    "stored ",
		"http://one.example/old":          "skipped redirect",
		"http://one.example/private/x":    "skipped robots",
		"http://one.example/image.png":    "skipped type",
		"http://one.example/gone":         "failed http 404",
		"http://elsewhere.example/":       "skipped out of scope",
	}
	if diff := cmp.Diff(want, got.States); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if len(got.Bodies) != 11 {
		t.Errorf("%d bodies, want 11", len(got.Bodies))
	}
	for query, want := range map[string]int{"gull": 6, `"grey heron"`: 2, "private": 1} { // robots.txt forbids the last page, which a link names
		if got := len(got.Hits[query]); got != want {
			t.Errorf("%d hits for %s, want %d", got, query, want)
		}
	}
}
