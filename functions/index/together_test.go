package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/RoaringBitmap/roaring"
	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// framedPages returns pages of a host that all have the same greeting and imprint (see framed).
func framedPages(host string, from, to int) (pages []webobject.Object) {
	for i := from; i < to; i++ {
		pages = append(pages, framed(fmt.Sprintf("http://%s/%03d", host, i), i))
	}
	return pages
}

// indexed stores a package of the pages, lists it in the manifest and indexes it. It also handles the tasks that
// index sends to itself.
func (w *world) indexed(pages ...webobject.Object) manifest.Package {
	w.t.Helper()
	pkg := w.put(0, pages...)
	w.list(pkg)
	w.run(pkg.Key)
	for _, sent := range w.sender.Take() {
		if sent.Queue != task.Index {
			continue
		}
		response, err := w.Handle(w.t.Context(), events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: sent.Body}}})
		if err != nil || len(response.BatchItemFailures) > 0 {
			w.t.Fatalf("%s: %+v, %v", sent.Body, response, err)
		}
	}
	return pkg
}

// end indexes the small packages together, as at the end of a crawl.
func (w *world) end() {
	w.t.Helper()
	if err := w.Together(w.t.Context(), task.Together{Ended: true}); err != nil {
		w.t.Fatal(err)
	}
}

// main returns the main parts of all live documents, by URL.
func (w *world) main() map[string]string {
	w.t.Helper()
	texts := make(map[string]string)
	for _, s := range w.manifest().Segments {
		for _, d := range w.documents(s) {
			if _, twice := texts[d.URL]; twice {
				w.t.Errorf("two documents of %s are alive", d.URL)
			}
			texts[d.URL] = d.Body
		}
	}
	return texts
}

// TestHoweverPacked indexes the pages of a host in packages of many sizes. In the end, the documents must be the
// same as if all pages were in one package: no repeated block may be left in a main part. No page may be indexed
// more than twice.
func TestHoweverPacked(t *testing.T) {
	all := framedPages("a.example", 0, 100)
	whole := newWorld(t)
	whole.indexed(all...)
	want := whole.main()
	if strings.Contains(want["http://a.example/000"], greeting) {
		t.Fatalf("one package: %q", want["http://a.example/000"])
	}
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(t)
		rest := slices.Clone(all)
		random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		var built atomic.Int32 // number of segments that were stored
		w.decide = func(c faultblob.Call) faultblob.Fault {
			if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Segments) {
				built.Add(1)
			}
			return faultblob.None
		}
		for len(rest) > 0 {
			n := min(len(rest), 1+random.IntN(4<<seed))
			w.indexed(rest[:n]...)
			rest = rest[n:]
		}
		w.end()
		if diff := cmp.Diff(want, w.main()); diff != "" {
			t.Errorf("seed %d (-one package +small ones):\n%s", seed, diff)
		}
		m := w.manifest()
		for _, pkg := range m.Packages {
			if pkg.Apart != nil || !pkg.Indexed {
				t.Errorf("seed %d: %+v", seed, pkg)
			}
		}
		if most := len(m.Packages) + len(all)/segments.HostPages + 1; int(built.Load()) > most {
			t.Errorf("seed %d: %d segments were built from %d packages", seed, built.Load(), len(m.Packages))
		}
		before := m.Generation
		w.end()
		if after := w.manifest().Generation; after != before {
			t.Errorf("seed %d: again changed something", seed)
		}
	}
}

// TestWitnesses indexes few pages of two hosts after a whole package of one of them. What this host
// repeats must be learnt from the whole package, whose documents stay.
func TestWitnesses(t *testing.T) {
	w := newWorld(t)
	w.indexed(framedPages("a.example", 0, segments.HostPages)...)
	old := w.manifest().Segments[0]
	few := append(framedPages("a.example", 100, 103), framedPages("b.example", 200, 202)...)
	w.indexed(few...)
	w.end()
	if m := w.manifest(); len(m.Segments) != 2 || !cmp.Equal(m.Segments[0], old) || m.Segments[1].Documents != len(few) {
		t.Errorf("segments %+v", m.Segments)
	}
	for url, text := range w.main() {
		if strings.Contains(text, greeting) != strings.Contains(url, "b.example") {
			t.Errorf("%s: main part %q", url, text)
		}
	}
}

// mask marks the document of a URL as dead, as the sweep does when the page is gone.
func (w *world) mask(url string) {
	w.t.Helper()
	functionstest.Edit(w.t, w.bucket, 0, func(e *partition.Edit) error {
		dead := make(map[string]*roaring.Bitmap)
		for _, s := range e.Manifest().Segments {
			found, err := segments.NewFinder(segment.Ranges{Bucket: w.bucket}, slices.Values([]layout.Identity{layout.IdentityOf(url)})).Find(w.t.Context(), &s)
			if err != nil {
				return err
			}
			for _, match := range found {
				dead[s.Key] = roaring.BitmapOf(match.Doc)
			}
		}
		return e.Mask(w.t.Context(), dead)
	})
}

// mergeAll merges all segments into one, as the function merge does. No document may be dead.
func (w *world) mergeAll() {
	w.t.Helper()
	p, err := partition.Open(w.t.Context(), w.bucket, 0, w.Now)
	if err != nil {
		w.t.Fatal(err)
	}
	var inputs []segment.Input
	var keys []string
	var parts []manifest.Part
	for _, s := range p.Manifest().Segments {
		inputs, keys, parts = append(inputs, segment.Input{Segment: w.segment(s), Dead: roaring.New()}), append(keys, s.Key), append(parts, s.Parts...)
	}
	content, free, err := segment.Merge(w.t.Context(), inputs, segment.MaxBytes, w.t.TempDir())
	if err != nil {
		w.t.Fatal(err)
	}
	defer free()
	merged, err := p.PutSegment(w.t.Context(), content)
	if err == nil {
		err = p.Commit(w.t.Context(), func(e *partition.Edit) error { return e.ReplaceSegments(keys, merged, parts...) })
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestDeadStaysDead indexes small packages together. Some of their documents are dead, for several reasons. These
// must stay dead, and no other document may become dead.
func TestDeadStaysDead(t *testing.T) {
	w := newWorld(t)
	w.indexed(framedPages("a.example", 0, 8)...)
	w.indexed(framedPages("a.example", 8, 15)...)
	newer := framedPages("a.example", 3, 5)
	for i := range newer {
		newer[i].Version.Token = 5
	}
	w.indexed(newer...)
	w.mask("http://a.example/009")
	before := w.live()
	w.end()
	if diff := cmp.Diff(before, w.live()); diff != "" || len(before) != 14 {
		t.Errorf("%d documents before (-before +after):\n%s", len(before), diff)
	}
	if m := w.manifest(); len(m.Segments) != 1 {
		t.Errorf("segments %+v", m.Segments)
	}
	w.soundOverlays()
}

// TestTogetherBesideOthers indexes small packages together, when a merged segment has their documents beside those
// of another package. The latter must stay.
func TestTogetherBesideOthers(t *testing.T) {
	w := newWorld(t)
	w.indexed(framedPages("a.example", 0, segments.HostPages)...)
	w.indexed(framedPages("a.example", 100, 110)...)
	w.mergeAll()
	before := w.live()
	w.end()
	if diff := cmp.Diff(before, w.live()); diff != "" {
		t.Errorf("documents (-before +after):\n%s", diff)
	}
	m := w.manifest()
	if len(m.Segments) != 2 || m.Segments[0].Dead() != 10 {
		t.Errorf("segments %+v", m.Segments)
	}
	for url, text := range w.main() {
		if strings.Contains(text, greeting) {
			t.Errorf("%s: main part %q", url, text)
		}
	}
}

// TestTogetherKilled makes each storage call fail in turn, before or after it took effect, and then runs again.
// The result must always be the same.
func TestTogetherKilled(t *testing.T) {
	prepared := func() *world {
		w := newWorld(t)
		w.indexed(framedPages("a.example", 0, 7)...)
		w.indexed(framedPages("a.example", 7, minPages)...)
		return w
	}
	w := prepared()
	w.end()
	want, live := w.main(), w.live()
	for _, fault := range []faultblob.Fault{faultblob.Before, faultblob.After} {
		for n := 0; ; n++ {
			var mu sync.Mutex // protects calls
			calls := 0
			w := prepared()
			w.decide = func(faultblob.Call) faultblob.Fault {
				mu.Lock()
				defer mu.Unlock()
				if calls++; calls == n+1 {
					return fault
				}
				return faultblob.None
			}
			err := w.Together(t.Context(), task.Together{Ended: true})
			if calls <= n {
				break
			}
			if err != nil {
				w.end()
			}
			if diff := cmp.Diff(want, w.main()); diff != "" {
				t.Errorf("call %d fails %v (-want +got):\n%s", n, fault, diff)
			}
			if diff := cmp.Diff(live, w.live()); diff != "" {
				t.Errorf("call %d fails %v: documents (-want +got):\n%s", n, fault, diff)
			}
		}
	}
}

// TestTogetherBesideDamage indexes small packages together, when a package or a segment cannot be read. The
// documents of this package, or in this segment, must stay as they are, and nothing may be tried again.
func TestTogetherBesideDamage(t *testing.T) {
	for name, c := range map[string]struct {
		lost  func(m manifest.Manifest) string
		whole bool // whether the other packages are indexed together
	}{
		"package": {func(m manifest.Manifest) string { return m.Packages[1].Key }, true},
		"segment": {func(m manifest.Manifest) string { return m.Segments[1].Key }, false},
	} {
		w := newWorld(t)
		for i := range 3 {
			w.indexed(framedPages("a.example", 10*i, 10*i+10)...)
		}
		before := w.manifest()
		if err := w.bucket.Delete(t.Context(), c.lost(before)); err != nil {
			t.Fatal(err)
		}
		w.end()
		m := w.manifest()
		for _, pkg := range m.Packages {
			if pkg.Apart != nil {
				t.Errorf("%s: %+v", name, pkg)
			}
		}
		live := 0
		for _, s := range m.Segments {
			live += s.Live()
		}
		if together := len(m.Segments) == 2; together != c.whole || live != 30 {
			t.Errorf("%s: %d documents, segments %+v", name, live, m.Segments)
		}
	}
}

// TestTogetherIsSent indexes small packages until they have enough pages together: only then must index
// send itself a task.
func TestTogetherIsSent(t *testing.T) {
	w := newWorld(t)
	for i := 0; i < segments.HostPages; i += 8 {
		if sent := w.sender.Take(); len(sent) != 0 {
			t.Errorf("%d pages: sent %v", i, sent)
		}
		pkg := w.put(0, framedPages("a.example", i, i+8)...)
		w.list(pkg)
		w.run(pkg.Key)
	}
	want := []functionstest.Message{{Queue: task.Index, Body: `{"storage":0}`}}
	if diff := cmp.Diff(want, w.sender.Take()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}
