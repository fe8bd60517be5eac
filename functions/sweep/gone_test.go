package sweep

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// loseIn commits a book whose outcomes say that the pages at the URLs are gone, and lists these
// pages as gone in the manifest, as the function pack does.
func (w *world) loseIn(p layout.Partition, token uint64, urls ...string) {
	w.t.Helper()
	if err := w.learn(p, book.Book{Outcomes: functionstest.Outcomes(w.t, version(token), book.Failed, urls...)}); err != nil {
		w.t.Fatal(err)
	}
	_, err := manifest.Commit(w.t.Context(), w.bucket, p, w.Now, func(m *manifest.Manifest) error {
		for _, url := range urls {
			m.AddGone(manifest.Gone{ID: layout.IdentityOf(url), Version: version(token)})
		}
		m.Consumed = append(m.Consumed, manifest.Consumed{Batch: version(token), At: w.Now()})
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) lose(token uint64, urls ...string) {
	w.t.Helper()
	w.loseIn(0, token, urls...)
}

// newPacked returns a world in which no fetched batch waits to be packed.
func newPacked(t *testing.T) *world {
	w := newQuiet(t)
	if err := w.bucket.Delete(t.Context(), layout.SpoolKey(0, version(3))); err != nil {
		t.Fatal(err)
	}
	return w
}

// shown returns a line with the URL and version of each live document of a partition, that is, of
// each page that searches can find.
func (w *world) shown(p layout.Partition) (shown []string) {
	w.t.Helper()
	for _, d := range w.live(p) {
		shown = append(shown, d.URL+" "+d.Version.String())
	}
	slices.Sort(shown)
	return shown
}

func (w *world) wantShown(when string, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.shown(0)); diff != "" {
		w.t.Errorf("%s (-want +shown):\n%s", when, diff)
	}
}

// TestGone checks that pages gone from the web are hidden from searches in all segments, and stay
// hidden whatever is merged, indexed late or indexed again. A page that has come back must be
// shown.
func TestGone(t *testing.T) {
	w := newPacked(t)
	w.pack(0, 20, one+"a", one+"b", one+"c")
	w.pack(0, 21, one+"a", one+"d")
	w.wantShown("before", one+"a "+version(21).String(), one+"b "+version(20).String(), one+"c "+version(20).String(), one+"d "+version(21).String())
	w.lose(30, one+"a", one+"b")
	w.run()
	stays := []string{one + "c " + version(20).String(), one + "d " + version(21).String()}
	w.wantShown("swept", stays...)
	generation := w.manifest(0).Generation
	w.run()
	if m := w.manifest(0); m.Generation != generation || len(m.Gone) != 2 || !m.Gone[0].Masked {
		t.Errorf("the second sweep has committed, gone %+v", m.Gone)
	}
	w.pack(0, 25, one+"a")
	w.wantShown("packed late", stays...)
	w.merge(0)
	w.clock.Advance(w.Limits.Collect.Keep)
	w.run()
	if m := w.manifest(0); m.Gone != nil || !m.IsClosed(version(30)) {
		t.Errorf("gone %+v, closed %v", m.Gone, m.Closed)
	}
	for name, of := range map[string]func(string) uint32{"all": nil, "of another analyzer": func(language string) uint32 { return analysis.Version(language) + 1 }} {
		if n, err := w.Reindex(t.Context(), of); n == 0 || err != nil {
			t.Fatal(n, err)
		}
		w.wantShown("not yet indexed anew: "+name, stays...)
		w.index(0)
		w.wantShown("indexed anew: "+name, stays...)
		w.run()
		w.run()
		if m := w.manifest(0); m.Gone != nil {
			t.Errorf("gone %+v", m.Gone)
		}
	}
	w.pack(0, 40, one+"a")
	w.wantShown("come back", append([]string{one + "a " + version(40).String()}, stays...)...)
	w.run()
	w.wantShown("come back and swept", append([]string{one + "a " + version(40).String()}, stays...)...)
}

// TestGoneIsKeptInMind has a page that is gone, of which an earlier version may still be indexed:
// for example, its package is not indexed yet. Until that is over, the page must stay on the
// manifest's list of gone pages.
func TestGoneIsKeptInMind(t *testing.T) {
	for name, test := range map[string]struct {
		wait func(w *world)
		over func(w *world)
	}{
		"not closed": {func(*world) {}, func(w *world) { w.clock.Advance(w.Limits.Collect.Keep) }},
		"not indexed": {
			func(w *world) {
				w.clock.Advance(w.Limits.Collect.Keep)
				functionstest.Commit(w.t, w.bucket, 0, func(m *manifest.Manifest) { m.Packages[0].Indexed = false })
			},
			func(w *world) { w.index(0) },
		},
		"not packed": {
			func(w *world) {
				w.clock.Advance(w.Limits.Collect.Keep)
				functionstest.Commit(w.t, w.bucket, 0, func(m *manifest.Manifest) { m.Consumed = nil; m.Close(version(30)) })
				l := layout.Version{Epoch: 0, Token: 9} // a batch of an earlier epoch
				functionstest.Put(w.t, w.bucket, layout.SpoolKey(0, l), nil)
			},
			func(w *world) {
				if err := w.bucket.Delete(w.t.Context(), layout.SpoolKey(0, layout.Version{Epoch: 0, Token: 9})); err != nil {
					w.t.Fatal(err)
				}
			},
		},
	} {
		w := newPacked(t)
		w.pack(0, 20, one+"a", one+"b")
		w.lose(30, one+"a")
		test.wait(w)
		w.run()
		w.run()
		if m := w.manifest(0); len(m.Gone) != 1 {
			t.Errorf("%s: gone %+v", name, m.Gone)
		}
		test.over(w)
		w.run()
		w.run()
		if m := w.manifest(0); len(m.Gone) != 0 {
			t.Errorf("%s: when that is over: gone %+v", name, m.Gone)
		}
	}
}

// TestMaskMessage checks that a task.Clean for a partition hides its gone pages from searches, and
// that nothing else is done.
func TestMaskMessage(t *testing.T) {
	w := newPacked(t)
	w.pack(0, 20, one+"a", one+"b")
	w.lose(30, one+"a")
	message := events.SQSEvent{Records: []events.SQSMessage{{Body: `{"gone":0}`}}}
	for range 2 {
		if response, err := w.Handle(t.Context(), message); err != nil || len(response.BatchItemFailures) > 0 {
			t.Fatal(response, err)
		}
	}
	w.wantShown("masked", one+"b "+version(20).String())
	if sent := w.sender.Take(); len(sent) > 0 {
		t.Errorf("sent %v", sent)
	}
	message.Records[0].Body = `{}`
	if _, err := w.Handle(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if sent := w.sender.Take(); !slices.ContainsFunc(sent, func(m functionstest.Message) bool { return m.Queue == task.Schedule }) {
		t.Errorf("of a sweep is sent %v", sent)
	}
}

// TestGoneBesideDamage has gone pages in two segments, one of which cannot be read. In the readable
// segment the gone pages must be hidden. In the damaged one they must be hidden as soon as it can
// be read again.
func TestGoneBesideDamage(t *testing.T) {
	w := newPacked(t)
	w.pack(0, 20, one+"a", one+"b")
	w.pack(0, 21, one+"c", one+"d")
	w.lose(30, one+"a", one+"c")
	damaged := w.manifest(0).Segments[0].Key
	content, err := w.bucket.Get(t.Context(), damaged, blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	put := func(content []byte) {
		if err := w.bucket.Replace(t.Context(), damaged, content); err != nil {
			t.Fatal(err)
		}
	}
	put(make([]byte, len(content)))
	w.run()
	w.run()
	if m := w.manifest(0); m.Segments[0].Dead() != 0 || m.Segments[1].Dead() != 1 || m.Gone[0].Masked || m.Gone[1].Masked {
		t.Errorf("segments %+v, gone %+v", m.Segments, m.Gone)
	}
	put(content)
	w.run()
	w.wantShown("mended", one+"b "+version(20).String(), one+"d "+version(21).String())
}

// TestGoneKilledAnywhere kills the sweep at each call to the bucket in turn. The next sweeps must
// hide the gone pages, and lead to the same final state as without the kill.
func TestGoneKilledAnywhere(t *testing.T) {
	last := func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) manifest.Manifest {
		w := newPacked(t)
		w.pack(0, 20, one+"a", one+"b", one+"c")
		w.pack(0, 21, one+"d")
		w.lose(30, one+"a", one+"d")
		w.Bucket = killed(w.bucket, decide)
		for range 2 {
			if err := w.Run(t.Context(), goneIn(0)); err != nil && !errors.Is(err, blob.ErrRetryable) {
				t.Fatal(err)
			}
		}
		w.Bucket = w.bucket
		w.run()
		w.wantShown("in the end", one+"b "+version(20).String(), one+"c "+version(20).String())
		for range 4 {
			w.clock.Advance(w.Limits.Collect.Past)
			w.run()
		}
		w.checkKeys(0)
		w.checkPast(0)
		m := w.manifest(0)
		if len(m.Packages) != 1 || m.Gone != nil {
			t.Errorf("packages %+v, gone %+v", m.Packages, m.Gone)
		}
		return m
	}
	want := last(t, func(faultblob.Call) faultblob.Fault { return faultblob.None })
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		got := last(t, decide)
		if diff := cmp.Diff(want.Packages, got.Packages); diff != "" {
			t.Errorf("packages (-want +got):\n%s", diff)
		}
	})
}

// TestGoneMeanwhile changes the manifest at the last moment: the sweep has read the segments, and
// is about to commit which documents are dead. Then the segments are merged, and another page is
// listed as gone and masked. The sweep must try again, so that in the end the documents of all gone
// pages are dead.
func TestGoneMeanwhile(t *testing.T) {
	w := newPacked(t)
	w.Limits.Tiers.Tier = 2
	w.pack(0, 20, one+"a", one+"b", one+"c")
	w.pack(0, 21, one+"d")
	w.lose(30, one+"a")
	var once sync.Once
	beside := &Function{Bucket: w.bucket, Now: w.Now, Log: w.Log}
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && c.Key == layout.ManifestKey(0, w.manifest(0).Generation+1) {
			once.Do(func() {
				w.merge(0)
				w.lose(31, one+"d")
				if err := beside.Run(t.Context(), goneIn(0)); err != nil {
					t.Fatal(err)
				}
			})
		}
		return faultblob.None
	})
	if err := w.Run(t.Context(), goneIn(0)); err != nil {
		t.Fatal(err)
	}
	w.wantShown("masked", one+"b "+version(20).String(), one+"c "+version(20).String())
	for _, g := range w.manifest(0).Gone {
		if !g.Masked {
			t.Errorf("%+v", g)
		}
	}
}
