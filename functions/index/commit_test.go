package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// commit commits an edit of the manifest, as another process does.
func (w *world) commit(edit func(*manifest.Manifest)) manifest.Manifest {
	w.t.Helper()
	return functionstest.Commit(w.t, w.bucket, 0, edit)
}

func (w *world) urls(listed manifest.Segment) (urls []string) {
	w.t.Helper()
	for _, d := range w.documents(listed) {
		urls = append(urls, d.URL)
	}
	return urls
}

// erase replaces the package by a new one with the given number of pages, under a new key, as if
// all other pages had been erased. It returns the new key.
func (w *world) erase(rest int) (key string) {
	w.t.Helper()
	pkg := w.put(rest)
	w.commit(func(m *manifest.Manifest) {
		listed := &m.Packages[0]
		listed.Formerly = append(listed.Formerly, listed.Key)
		m.Condemn(w.Now(), listed.Key)
		listed.Key, listed.Indexed = pkg.Key, false
	})
	return pkg.Key
}

// TestSegmentIsReplaced erases pages from a package and indexes it again: the new segment must take
// the place of the old one. If the package has no page left, no segment may be listed.
func TestSegmentIsReplaced(t *testing.T) {
	w := newWorld(t)
	pkg := w.put(3)
	w.list(pkg)
	w.run(pkg.Key)
	old := w.manifest().Segments[0].Key
	now := w.erase(2)
	w.run(pkg.Key) // with the former key, as in an old message
	m := w.manifest()
	if len(m.Segments) != 1 || m.Segments[0].Key == old || m.Segments[0].Documents != 2 || !m.Packages[0].Indexed {
		t.Fatalf("packages %+v, segments %+v", m.Packages, m.Segments)
	}
	if d := w.documents(m.Segments[0])[0]; d.Package != now {
		t.Errorf("the document stands in %s, want %s", d.Package, now)
	}
	if !m.IsCondemned(old) {
		t.Errorf("condemned %+v, want %s among them", m.Condemned, old)
	}
	w.erase(0)
	w.run(pkg.Key)
	if m := w.manifest(); len(m.Segments) != 0 || !m.Packages[0].Indexed {
		t.Errorf("segments %+v of a package of nothing", m.Segments)
	}
}

// TestErasedMeanwhile erases pages from the package between its reading and the commit of its
// segment: the segment must be built again, without these pages.
func TestErasedMeanwhile(t *testing.T) {
	w := newWorld(t)
	pkg := w.put(3)
	w.list(pkg)
	w.decide = func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Manifests) {
			w.decide = nil
			w.erase(2)
		}
		return faultblob.None
	}
	w.run(pkg.Key)
	if m := w.manifest(); len(m.Segments) != 1 || m.Segments[0].Documents != 2 {
		t.Errorf("segments %+v, want one without what was erased", m.Segments)
	}
}

// TestTheSameSegmentAgain builds a segment with the same bytes as before. It must be listed under
// the same key, unless that key is condemned (marked for deletion) or the stored object is damaged.
func TestTheSameSegmentAgain(t *testing.T) {
	for name, test := range map[string]struct {
		harm    func(w *world, key string)
		sameKey bool
	}{
		"whole":     {func(*world, string) {}, true},
		"condemned": {func(w *world, key string) { w.commit(func(m *manifest.Manifest) { m.Condemn(w.Now(), key) }) }, false},
		"condemned and unlisted": {func(w *world, key string) {
			w.commit(func(m *manifest.Manifest) { m.Segments = nil; m.Condemn(w.Now(), key) })
		}, false},
		"damaged": {func(w *world, key string) {
			if err := w.bucket.Replace(w.t.Context(), key, []byte("damaged")); err != nil {
				w.t.Fatal(err)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			pkg := w.put(3)
			w.list(pkg)
			w.run(pkg.Key)
			before := w.manifest().Segments[0].Key
			test.harm(w, before)
			w.commit(func(m *manifest.Manifest) { m.Packages[0].Indexed = false })
			w.run(pkg.Key)
			m := w.manifest()
			if len(m.Segments) != 1 || (m.Segments[0].Key == before) != test.sameKey || w.segment(m.Segments[0]).Documents() != 3 {
				t.Errorf("segments %+v, before %s", m.Segments, before)
			}
			if m.IsCondemned(m.Segments[0].Key) || m.IsCondemned(before) == test.sameKey {
				t.Errorf("condemned %+v", m.Condemned)
			}
		})
	}
}

// TestForgottenIsNotIndexed indexes pages that a takedown forgets: they must not be in the segment.
// In the second case the takedown is published, and applied to the partition, while the segment is
// built.
func TestForgottenIsNotIndexed(t *testing.T) {
	for _, late := range []bool{false, true} {
		w := newWorld(t)
		pkg := w.put(2, functionstest.Page(batch, "http://b.example/"))
		w.list(pkg)
		a, err := address.Parse("http://a.example/0")
		if err != nil {
			t.Fatal(err)
		}
		forget := func() {
			if _, err := takedown.Forget(t.Context(), w.bucket, takedown.URL(a, w.Now()), takedown.Site("b.example", w.Now())); err != nil {
				t.Fatal(err)
			}
		}
		if late {
			w.decide = func(c faultblob.Call) faultblob.Fault {
				if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Manifests) {
					w.decide = nil
					forget()
					w.commit(func(m *manifest.Manifest) { m.Forgotten = 1 })
				}
				return faultblob.None
			}
		} else {
			forget()
		}
		w.run(pkg.Key)
		if diff := cmp.Diff([]string{"http://a.example/1"}, w.urls(w.manifest().Segments[0])); diff != "" {
			t.Errorf("late %v (-want +got):\n%s", late, diff)
		}
	}
}

// TestTakedownsLost indexes in a partition that has applied takedowns of which no version is left. Run must fail, and not
// try again and again.
func TestTakedownsLost(t *testing.T) {
	w := newWorld(t)
	pkg := w.put(2)
	w.list(pkg)
	w.commit(func(m *manifest.Manifest) { m.Forgotten = 1 })
	if err := w.Run(t.Context(), pkg.Key); err == nil || !strings.Contains(err.Error(), "version 1 of the takedowns") {
		t.Errorf("%v, want an error that names the version", err)
	}
}

// TestIndexFailsAnywhere lets each call of the object store fail in turn while packages are
// indexed. If Run fails, a second Run must succeed, with the same result as without the fault.
func TestIndexFailsAnywhere(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		w := newWorldIn(t, memblob.New(), decide)
		pkg := w.put(3)
		w.list(pkg)
		if err := w.Run(t.Context(), pkg.Key); err != nil {
			w.run(pkg.Key)
		}
		now := w.erase(2)
		if err := w.Run(t.Context(), now); err != nil {
			w.run(now)
		}
		m := w.manifest()
		if len(m.Segments) != 1 || m.Segments[0].Documents != 2 || len(m.Condemned) != 2 {
			t.Errorf("segments %+v, condemned %+v", m.Segments, m.Condemned)
		}
	})
}

// lose adds page n to the manifest's list of gone pages, which are no longer at their URLs. The
// batch with the given token found that out.
func (w *world) lose(token uint64, n int) {
	w.t.Helper()
	w.commit(func(m *manifest.Manifest) {
		id := layout.IdentityOf(fmt.Sprintf("http://a.example/%d", n))
		m.AddGone(manifest.Gone{ID: id, Version: layout.Version{Epoch: 1, Token: token}, Masked: true})
	})
}

// TestGoneIsNotShown indexes packages in several orders, and some of them more than once. A page
// that is gone (no longer at its URL) must have no live document, unless it was fetched again
// later.
func TestGoneIsNotShown(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2, 0, 1}, {2, 2, 0, 0, 1, 1}} {
		w := newWorld(t)
		w.indexGone(order...)
	}
}

// TestGoneFailsAnywhere lets each call of the object store fail in turn while packages with gone
// pages are indexed. If Run fails, a second Run must give the right documents.
func TestGoneFailsAnywhere(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		newWorldIn(t, memblob.New(), decide).indexGone(2, 0, 1)
	})
}

// indexGone stores three packages, at three times. After the second, a batch finds that pages 0 and
// 1 are gone. The third package has page 1 again. indexGone indexes the packages in the given
// order, and checks which documents are live in the end: page 1 must have one, and page 0 none.
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

// TestGoneMeanwhile adds a page to the manifest's list of gone pages between the reading of its
// package and the commit of the segment: the page must have no live document.
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
