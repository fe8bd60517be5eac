package sweep

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// move publishes a storage strategy that assigns all URLs to one partition.
func (w *world) move(to layout.Partition) {
	w.t.Helper()
	inForce, err := w.Function.inForce(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	next := rules.Even(rules.Storage, 1, w.Now())
	next.Version, next.Rules[0].Partition = inForce.Storage.Version+1, int(to)
	if err := rules.Publish(w.t.Context(), w.bucket, next); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) wantIn(when string, want map[layout.Partition][]string) {
	w.t.Helper()
	for p, pages := range want {
		if diff := cmp.Diff(pages, w.shown(p)); diff != "" {
			w.t.Errorf("%s: partition %s (-want +shown):\n%s", when, p, diff)
		}
	}
}

func page(name string, token uint64) string { return one + name + " " + version(token).String() }

// TestMoved moves pages to another partition. It then indexes packages late or again, and merges
// segments. At any time only the last version of each page may be found, and no version of a page
// that is gone.
func TestMoved(t *testing.T) {
	w := newPacked(t)
	w.Limits.Tiers.Tier = 2
	w.pack(0, 20, one+"a", one+"b", one+"c")
	w.pack(0, 21, one+"d")
	w.move(1)
	w.pack(1, 40, one+"a", one+"e")
	w.run()
	w.wantIn("stored elsewhere", map[layout.Partition][]string{0: {page("b", 20), page("c", 20), page("d", 21)}, 1: {page("a", 40), page("e", 40)}})
	w.loseIn(1, 50, one+"b", one+"e")
	w.run()
	stays := map[layout.Partition][]string{0: {page("c", 20), page("d", 21)}, 1: {page("a", 40)}}
	w.wantIn("gone elsewhere", stays)
	w.pack(0, 30, one+"a", one+"d") // package of a batch that was leased
	w.run()
	stays[0] = []string{page("c", 20), page("d", 30)}
	w.wantIn("packed late", stays)
	w.merge(0)
	before := []uint64{w.manifest(0).Generation, w.manifest(1).Generation}
	w.run()
	w.wantIn("merged", stays)
	for p, generation := range before {
		if m := w.manifest(layout.Partition(p)); m.Generation > generation+1 || !m.Segments[0].Compared {
			t.Errorf("partition %d: generation %d after %d, segments %+v; want nothing to be compared again", p, m.Generation, generation, m.Segments)
		}
	}
	for range 8 {
		w.clock.Advance(w.Limits.Collect.Keep)
		w.run()
	}
	if n, err := w.Reindex(t.Context(), func(language string) uint32 { return analysis.Version(language) + 1 }); n == 0 || err != nil {
		t.Fatal(n, err)
	}
	w.index(0)
	w.index(1)
	w.run()
	w.wantIn("indexed anew", stays)
	w.move(0)
	w.pack(0, 60, one+"a", one+"b")
	w.run()
	w.wantIn("moved back", map[layout.Partition][]string{0: {page("a", 60), page("b", 60), page("c", 20), page("d", 30)}, 1: nil})
}

// TestNotMoved checks that partitions are not compared if no strategy has ever moved pages between
// them.
func TestNotMoved(t *testing.T) {
	w := newPacked(t)
	w.pack(0, 20, one+"a")
	w.pack(1, 40, one+"a")
	w.run()
	w.wantIn("swept", map[layout.Partition][]string{0: {page("a", 20)}, 1: {page("a", 40)}})
	if m := w.manifest(0); m.Segments[0].Compared {
		t.Error("a generation was committed for nothing")
	}
}

// TestMovedMessage publishes a strategy that moves pages from partition 0 to partition 1. Then one
// of the pages is listed as gone in partition 1. Its document is still in partition 0, but a
// task.Clean for partition 1 must hide the page from searches nevertheless.
func TestMovedMessage(t *testing.T) {
	w := newPacked(t)
	w.pack(0, 20, one+"a", one+"b")
	w.move(1)
	w.loseIn(1, 30, one+"a")
	response, err := w.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{Body: `{"gone":1}`}}})
	if err != nil || len(response.BatchItemFailures) > 0 {
		t.Fatal(response, err)
	}
	w.wantShown("masked", page("b", 20))
	if g := w.manifest(1).Gone; len(g) != 1 || !g[0].Masked {
		t.Errorf("gone %+v", g)
	}
}

// TestMovedBesideDamage sweeps partition 1 while a segment of partition 0 cannot be read. So the
// sweep cannot look for all outdated documents in partition 0. It must not mark the work as done:
// the gone pages of partition 1 must not become Masked, nor its segments Compared. When the segment
// is repaired, the next sweep must finish the work.
func TestMovedBesideDamage(t *testing.T) {
	w := newPacked(t)
	w.pack(0, 20, one+"a", one+"b", one+"c")
	w.move(1)
	w.pack(1, 30, one+"a", one+"d")
	w.loseIn(1, 31, one+"b")
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
	if m := w.manifest(1); m.Gone[0].Masked || m.Segments[0].Compared {
		t.Errorf("gone %+v, segments %+v", m.Gone, m.Segments)
	}
	put(content)
	w.run()
	w.wantIn("mended", map[layout.Partition][]string{0: {page("c", 20)}, 1: {page("a", 30), page("d", 30)}})
}

// TestMovedKilledAnywhere kills the sweep at each call to the bucket in turn. The next sweep must
// hide the outdated versions of moved pages nevertheless.
func TestMovedKilledAnywhere(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		w := newPacked(t)
		w.pack(0, 20, one+"a", one+"b", one+"c")
		w.move(1)
		w.pack(1, 40, one+"a")
		w.loseIn(1, 41, one+"b")
		w.Bucket = killed(w.bucket, decide)
		for range 2 {
			for _, p := range []layout.Partition{1, 0} {
				if err := w.Run(t.Context(), goneIn(p)); err != nil && !errors.Is(err, blob.ErrRetryable) {
					t.Fatal(err)
				}
			}
		}
		w.Bucket = w.bucket
		w.run()
		w.wantIn("in the end", map[layout.Partition][]string{0: {page("c", 20)}, 1: {page("a", 40)}})
		if m := w.manifest(1); slices.ContainsFunc(m.Gone, func(g manifest.Gone) bool { return !g.Masked }) {
			t.Errorf("gone %+v", m.Gone)
		}
		if left := w.manifest(0).Segments; len(left) != 1 || functionstest.Live(t, w.bucket, w.manifest(0)) == nil {
			t.Errorf("segments %+v", left)
		}
	})
}

// TestMovedMeanwhile lists a page as gone in one partition while the sweep already compares this
// partition with another one. That sweep has not looked for the page in the other partition, so it
// must not mark the page as Masked. The next sweep must hide the page from searches.
func TestMovedMeanwhile(t *testing.T) {
	w := newPacked(t)
	w.pack(0, 20, one+"a", one+"b", one+"c")
	w.move(1)
	w.pack(1, 40, one+"a")
	var once sync.Once
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && c.Key == layout.ManifestKey(1, w.manifest(1).Generation+1) {
			once.Do(func() { w.loseIn(1, 41, one+"b") })
		}
		return faultblob.None
	})
	if err := w.Run(t.Context(), goneIn(1)); err != nil {
		t.Fatal(err)
	}
	if g := w.manifest(1).Gone; len(g) != 1 || g[0].Masked {
		t.Errorf("gone %+v", g)
	}
	w.run()
	w.wantIn("in the end", map[layout.Partition][]string{0: {page("c", 20)}, 1: {page("a", 40)}})
}
