package index

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// lose lists page n as gone, since a batch.
func (w *world) lose(token uint64, n int) {
	w.t.Helper()
	w.commit(func(m *manifest.Manifest) {
		id := layout.IdentityOf(fmt.Sprintf("http://a.example/%d", n))
		m.AddGone(manifest.Gone{ID: id, Version: layout.Version{Epoch: 1, Token: token}, Masked: true})
	})
}

// Whatever order packages are indexed in, and again: a page that is gone is not
// shown, and one that has come back is.
func TestGoneIsNotShown(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2, 0, 1}, {2, 2, 0, 0, 1, 1}} {
		w := newWorld(t)
		w.indexGone(order...)
	}
}

// Whichever storage call fails, another delivery of the message mends it.
func TestGoneFailsAnywhere(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		newWorldIn(t, memblob.New(), decide).indexGone(2, 0, 1)
	})
}

// indexGone indexes packages in an order, of which some pages are gone.
func (w *world) indexGone(order ...int) {
	w.t.Helper()
	packages := []manifest.Package{w.fetched(1, 0, 1, 2), w.fetched(3, 0, 3), w.fetched(5, 1)}
	w.lose(4, 0)
	w.lose(4, 1)
	for _, i := range order {
		w.commit(func(m *manifest.Manifest) { m.Packages[i].Indexed = false })
		if err := w.Run(w.t.Context(), packages[i].Key); err != nil {
			w.run(packages[i].Key)
		}
		w.soundOverlays()
	}
	if diff := cmp.Diff([]string{stands(1, 5), stands(2, 1), stands(3, 3)}, w.live()); diff != "" {
		w.t.Errorf("live after %v (-want +got):\n%s", order, diff)
	}
}

// TestGoneMeanwhile has a page found to be gone between the reading of the
// package and the commit.
func TestGoneMeanwhile(t *testing.T) {
	w := newWorld(t)
	pkg := w.fetched(1, 0, 1)
	w.decide = func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && c.Key == layout.ManifestKey(0, 2) {
			w.decide = nil
			w.lose(2, 0)
		}
		return faultblob.None
	}
	w.run(pkg.Key)
	if diff := cmp.Diff([]string{stands(1, 1)}, w.live()); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}
