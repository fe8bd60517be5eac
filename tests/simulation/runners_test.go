package simulation

import "testing"

// TestTwoRunners lets two complete sets of functions, each with a Redis and a queue of its own,
// work on one bucket. The result must be that of one set.
func TestTwoRunners(t *testing.T) {
	t.Parallel()
	m := newMemories(t)
	want, took := quiet(t, m, small)
	for seed := range uint64(1 + 19/stride) {
		inWorld(t, m, plan{seed: seed, site: small, runners: 2, atOnce: 4}, func(w *world) {
			w.run()
			w.check(want)
			t.Logf("seed %d: %+v beyond a quiet run", seed, w.taken().beyond(took))
		})
	}
}
