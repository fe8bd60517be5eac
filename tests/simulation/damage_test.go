package simulation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// harm flips a bit of an object or, if deleted is true, deletes the object. It returns a text
// that says what it did.
func (w *world) harm(key string, deleted bool) string {
	w.t.Helper()
	if deleted {
		if err := w.store.Delete(w.t.Context(), key); err != nil {
			w.t.Fatal(err)
		}
		return key + " is deleted"
	}
	content, err := w.store.Get(w.t.Context(), key, blob.Range{})
	if err != nil {
		w.t.Fatal(err)
	}
	at := w.random.IntN(len(content))
	content[at] ^= 1 << w.random.IntN(8)
	if err := w.store.Replace(w.t.Context(), key, content); err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprintf("%s is damaged at byte %d", key, at)
}

// damageable are the prefixes of objects that repair can mend when they are damaged.
var damageable = []string{layout.Packages, layout.Books, layout.Segments, layout.Overlays, layout.Spool, layout.Hints, layout.Runs}

var damageKinds = []kind{
	{"an object is damaged", harmAny(damageable, false)},
	{"an object is deleted", harmAny(damageable, true)},
}

func harmAny(prefixes []string, deleted bool) func(*world, *call) (fault, string, bool) {
	return func(w *world, _ *call) (fault, string, bool) {
		keys := w.ownKeys(prefixes[w.random.IntN(len(prefixes))])
		if len(keys) == 0 {
			return none, "", false
		}
		w.harmed++
		return none, w.harm(keys[w.random.IntN(len(keys))], deleted), true
	}
}

// TestDamage damages or deletes each object of a finished crawl, one in each run. Verify must
// report it, repair must mend it, and the final result must be that of a run without damage.
func TestDamage(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	crawl := life{plan: plan{site: small}}
	masked := life{plan: plan{site: small, masked: true, from: crawled(t, m, small)}, begin: (*world).reindexFirst}
	for _, of := range []struct {
		life
		prefixes []string
	}{
		{crawl, []string{layout.Packages, layout.Books, layout.Segments, layout.Hints}},
		{masked, []string{layout.Overlays}},
	} {
		want := of.quiet(t, m).want
		for _, prefix := range of.prefixes {
			for _, deleted := range []bool{false, true} {
				for n, objects := 0, 1; n < objects && !t.Failed(); n += stride {
					t.Run(fmt.Sprintf("%s %d, deleted %v", prefix, n, deleted), func(t *testing.T) {
						objects = of.damaged(t, m, prefix, n, deleted, want)
					})
				}
			}
		}
	}
}

// damaged simulates the life (a kind of run). When all work is done, it damages or deletes one of
// the objects below the prefix: number n in the order of their keys, counted from 0. Then it repairs
// the bucket, and checks that the result is the wanted one. It returns the number of objects.
func (l life) damaged(t *testing.T, m *memories, prefix string, n int, deleted bool, want result) (objects int) {
	p := l.plan
	p.seed = uint64(n)
	inWorld(t, m, p, func(w *world) {
		l.start(w)
		w.settle(longest)
		keys := w.keys(prefix)
		if objects = len(keys); n >= objects {
			t.Fatalf("only %d %s to damage", objects, prefix)
		}
		what := w.harm(keys[n], deleted)
		if problems := w.problems(); len(problems) == 0 && w.listed(keys[n]) {
			t.Errorf("%s, and verify does not say so", what)
		}
		report := w.repair()
		if len(report.Left) > 0 {
			t.Errorf("%s, and repair left %v", what, report.Left)
		}
		w.run()
		w.check(want)
	})
	return objects
}

// listed reports whether the newest manifest of any partition lists the object with the key.
func (w *world) listed(key string) bool {
	w.t.Helper()
	for _, p := range w.inForce.Partitions() {
		m, err := manifest.Read(w.t.Context(), w.store, p)
		if err != nil {
			w.t.Fatal(err)
		}
		for listed := range m.Objects() {
			if listed == key {
				return true
			}
		}
	}
	return false
}

// TestHistory damages or deletes an old generation of a partition's manifest. Old generations are
// kept for some time, but only for queries about the past. Verify must report the damage. The present
// states, pages and search results must not change. When the time is over and the old generations
// have been deleted, verify must find no problem.
func TestHistory(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	want, _ := quiet(t, m, small)
	for _, deleted := range []bool{false, true} {
		inWorld(t, m, plan{site: small}, func(w *world) {
			w.settle(longest)
			harmed := w.keys(layout.Manifests)[1]
			what := w.harm(harmed, deleted)
			w.repair()
			problems := w.problems()
			if len(problems) == 0 {
				t.Errorf("%s, and verify does not say so", what)
			}
			for _, p := range problems {
				if p.Key != harmed && !strings.Contains(p.String(), "generation") {
					t.Errorf("%s, and verify says: %s", what, p)
				}
			}
			w.compare(want, w.result())
			w.run()
			w.check(want)
		})
	}
}

// TestSpoolLost damages or deletes a spool object, which holds pages that were fetched and not
// packed yet. When the frontiers have been rebuilt from the bucket, these pages are fetched
// again, and the final result must be that of a run without damage.
func TestSpoolLost(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	want, _ := quiet(t, m, small)
	for _, deleted := range []bool{false, true} {
		inWorld(t, m, plan{site: small}, func(w *world) {
			done := false
			w.decide = func(c *call) fault {
				if keys := w.keys(layout.Spool); !done && strings.Contains(c.what, "list "+layout.Spool) && len(keys) > 0 {
					done = true
					w.harm(keys[0], deleted)
				}
				return none
			}
			w.settle(longest)
			w.rebuild()
			w.run()
			w.check(want)
		})
	}
}
