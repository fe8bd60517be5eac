package merge

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// onCommit arranges that the given callback is called once, just before merge commits.
func (w *world) onCommit(do func()) {
	w.decide = func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Manifests) {
			w.decide = nil
			do()
		}
		return faultblob.None
	}
}

// TestLateDeletions lets documents of the inputs die during the merge: they must be dead in the
// merged segment.
func TestLateDeletions(t *testing.T) {
	w := newWorld(t)
	w.full()
	w.index(2, 3, 8)
	w.onCommit(func() { w.index(3, 0, 4, 10, 15, 99) })
	w.run()
	m := w.manifest()
	if len(m.Segments) != 2 || m.Segments[0].Documents != 16 || m.Segments[0].Dead() != 4 || len(m.Condemned) != 9 {
		t.Errorf("segments %+v", m.Segments)
	}
	want := []string{stands(0, 3), stands(4, 3), stands(10, 3), stands(15, 3), stands(99, 3), stands(3, 2), stands(8, 2)}
	for _, n := range []int{1, 2, 5, 6, 7, 9, 11, 12, 13, 14} {
		want = append(want, stands(n, 1))
	}
	if diff := cmp.Diff(want, w.live(), sorted); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}

// TestInputIsGone removes an input from the manifest during the merge: Run must send a task to
// merge again, and the next run must merge.
func TestInputIsGone(t *testing.T) {
	w := newWorld(t)
	w.full()
	w.onCommit(func() { w.index(2, 0, 1) })
	w.run()
	if m := w.manifest(); len(m.Segments) != 8 || len(w.sender.Take()) != 1 {
		t.Errorf("segments %+v; want to be asked again", m.Segments)
	}
	w.run()
	if m := w.manifest(); len(m.Segments) != 1 {
		t.Errorf("segments %+v", m.Segments)
	}
	if diff := cmp.Diff(append([]string{stands(0, 2), stands(1, 2)}, allOf(2, 16, 1)...), w.live(), sorted); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}

// TestReindexedMeanwhile indexes a package again while merge is merging the package's old segment.
// The package's documents are then in a new segment, too. Their copies in the merged segment must be
// dead, so that each page has one live document.
func TestReindexedMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.full()
	first := w.manifest().Packages[0].Key
	w.onCommit(func() {
		functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) {
			m.Packages[0].Indexed = false
		})
		w.indexAgain(first)
	})
	w.run()
	if diff := cmp.Diff(allOf(0, 16, 1), w.live()); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}

// TestBackToLifeMeanwhile makes dead documents alive again just before the commit, when the merge
// has left them out already. Run must send a task to merge again, and no live document may be lost.
func TestBackToLifeMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.full()
	w.index(2, 0, 99)
	w.onCommit(func() {
		functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Segments[0].Deletions = nil })
	})
	w.run()
	if sent := w.sender.Take(); len(sent) != 1 {
		t.Fatalf("sent %v, want to be asked again", sent)
	}
	w.run()
	if diff := cmp.Diff(append(allOf(0, 16, 1), stands(0, 2), stands(99, 2)), w.live(), sorted); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}

// TestSuspended lets an hour pass before the commit, as if the process had been suspended. By then
// the merged segment may have been deleted, because no manifest lists it. So Run must not list it,
// and must merge again.
func TestSuspended(t *testing.T) {
	w := newWorld(t)
	clock := functionstest.NewClock()
	w.Now = clock.Now
	w.full()
	put := ""
	var suspend sync.Once // the base of a commit is read by several requests at once
	w.decide = func(c faultblob.Call) faultblob.Fault {
		switch {
		case c.Op == faultblob.Create && put == "":
			put = c.Key
		case put != "": // the function reads the base of its commit now
			suspend.Do(func() {
				clock.Advance(manifest.Fresh)
				if err := w.bucket.Delete(t.Context(), put); err != nil {
					t.Error(err)
				}
			})
		}
		return faultblob.None
	}
	w.run()
	if sent := w.sender.Take(); len(sent) != 1 {
		t.Fatalf("sent %v, want to be asked again", sent)
	}
	w.run()
	if diff := cmp.Diff(allOf(0, 16, 1), w.live()); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}

// TestTheSameAgain rewrites a segment that has no dead documents. The new segment has the same
// bytes, and so the same key: it must stay listed once, and not be condemned (marked for deletion).
func TestTheSameAgain(t *testing.T) {
	w := newWorld(t)
	w.index(1, 0, 1)
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Segments[0].Erase = true })
	before := w.manifest().Segments[0]
	before.Erase = false
	w.run()
	if m := w.manifest(); !cmp.Equal(m.Segments, []manifest.Segment{before}) || m.Condemned != nil {
		t.Errorf("segments %+v, condemned %+v", m.Segments, m.Condemned)
	}
}

// TestTwoMerge lets two processes merge the same segments: the slower one must change nothing.
func TestTwoMerge(t *testing.T) {
	w := newWorld(t)
	w.full()
	other := w.another()
	other.Bucket = w.bucket
	w.onCommit(func() {
		if err := other.Run(t.Context(), task.Tiers{}); err != nil {
			t.Fatal(err)
		}
	})
	w.run()
	m := w.manifest()
	if len(m.Segments) != 1 || len(m.Condemned) != 8 {
		t.Errorf("segments %+v, condemned %+v", m.Segments, m.Condemned)
	}
	if diff := cmp.Diff(allOf(0, 16, 1), w.live()); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}

// TestCondemnedMeanwhile condemns the key of the merged segment (marks it for deletion) before it
// is listed: the next run must store the segment under another key.
func TestCondemnedMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.full()
	w.onCommit(func() {
		functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) {
			listed := make(map[string]bool)
			for key := range m.Objects() {
				listed[key] = true
			}
			for _, key := range functionstest.Keys(t, w.bucket, layout.Segments) {
				if !listed[key] {
					m.Condemn(w.Now(), key)
				}
			}
		})
	})
	w.run()
	if sent := w.sender.Take(); len(sent) != 1 {
		t.Fatalf("sent %v, want to be asked again", sent)
	}
	w.run()
	m := w.manifest()
	if len(m.Segments) != 1 || m.IsCondemned(m.Segments[0].Key) || len(m.Condemned) != 9 {
		t.Errorf("segments %+v, condemned %+v", m.Segments, m.Condemned)
	}
}

// TestManyAtOnce runs merge and index at the same time: no document may be lost or alive twice.
func TestManyAtOnce(t *testing.T) {
	w := newWorld(t)
	w.Tiers.Tier = 2
	// the first generation: without it a package would prove that all generations are lost
	functionstest.Commit(t, w.bucket, 0, func(*manifest.Manifest) {})
	var all sync.WaitGroup
	var listing sync.Mutex // packages are named by their number
	for n := range 4 {
		all.Go(func() {
			for token := range uint64(6) {
				listing.Lock()
				objects := []webobject.Object{
					functionstest.Page(layout.Version{Epoch: 1, Token: token}, fmt.Sprintf("http://a.example/%d", n)),
					functionstest.Page(layout.Version{Epoch: 1, Token: 10*token + uint64(n)}, "http://a.example/shared"),
				}
				pkg, _ := functionstest.Package(t, w.bucket, 0, objects...)
				functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) { m.Add(pkg) })
				listing.Unlock()
				w.indexAgain(pkg.Key)
			}
		})
		all.Go(func() {
			own := w.another()
			for range 8 {
				if err := own.Run(t.Context(), task.Tiers{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for w.Tiers.Mergeable(new(w.manifest()), false) != nil {
		w.run()
	}
	want := []string{stands(0, 5), stands(1, 5), stands(2, 5), stands(3, 5), "http://a.example/shared " + layout.Version{Epoch: 1, Token: 53}.String()}
	if diff := cmp.Diff(want, w.live()); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}
