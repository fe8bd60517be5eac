package simulation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// harm damages an object: it flips a byte, or deletes it.
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

// damageable are the prefixes of what may be damaged and mended.
var damageable = []string{layout.Packages, layout.Books, layout.Segments, layout.Spool, layout.Hints}

var damageKinds = []kind{
	{"an object is damaged", harmAny(damageable, false)},
	{"an object is deleted", harmAny(damageable, true)},
}

func harmAny(prefixes []string, deleted bool) func(*world, *call) (fault, string, bool) {
	return func(w *world, _ *call) (fault, string, bool) {
		keys := w.keys(prefixes[w.random.IntN(len(prefixes))])
		if len(keys) == 0 {
			return none, "", false
		}
		w.harmed++
		return none, w.harm(keys[w.random.IntN(len(keys))], deleted), true
	}
}

// TestDamage does harm to every object of a world at rest in turn. Verify says
// so, repair mends it, and the world goes on as if nothing had been.
func TestDamage(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	want, _ := quiet(t, m, small)
	for _, prefix := range []string{layout.Packages, layout.Books, layout.Segments, layout.Hints} {
		for _, deleted := range []bool{false, true} {
			for n, ended := 0, false; !ended; n += stride {
				t.Run(fmt.Sprintf("%s %d, deleted %v", prefix, n, deleted), func(t *testing.T) {
					inWorld(t, m, plan{seed: uint64(n), site: small}, func(w *world) {
						w.settle(longest)
						keys := w.keys(prefix)
						if ended = n >= len(keys); ended {
							return
						}
						what := w.harm(keys[n], deleted)
						if problems := w.problems(); len(problems) == 0 && prefix != layout.Hints {
							t.Errorf("%s, and verify does not say so", what)
						}
						report := w.repair()
						if len(report.Left) > 0 {
							t.Errorf("%s, and repair left %v", what, report.Left)
						}
						w.run()
						w.check(want)
					})
				})
			}
		}
	}
}

// TestHistory damages a generation that is not the newest. Verify says so as
// long as it would be kept; what it held is only history, and nothing else
// suffers.
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

// TestSpoolLost deletes a spool object that is settled and not packed: nobody
// but verify can know of it.
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
