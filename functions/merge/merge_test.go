package merge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring"
	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/segments"
	"github.com/bucketsearch/bucketsearch/functions/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// world is a function with its surroundings.
type world struct {
	*Function
	t      *testing.T
	bucket *memblob.Bucket
	sender *functionstest.Sender
	decide func(faultblob.Call) faultblob.Fault // of the function's storage calls; nil: none fails
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, bucket: memblob.New(), sender: new(functionstest.Sender)}
	faulty := faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if w.decide == nil {
			return faultblob.None
		}
		return w.decide(c)
	})
	w.Function = &Function{
		Bucket: faulty, Redis: redistest.Embedded(t), Sender: w.sender, Now: functionstest.NewClock().Now, Worker: "w",
		Tiers: segments.DefaultLimits(), Log: functionstest.Log(),
	}
	return w
}

// another is a function of the same bucket that holds a lease of its own.
func (w *world) another() *Function {
	return &Function{
		Bucket: w.Bucket, Redis: redistest.Embedded(w.t), Sender: w.Sender, Now: w.Now, Worker: w.Worker,
		Tiers: w.Tiers, Log: w.Log,
	}
}

// index lists a package of pages fetched by one batch, and has it indexed.
func (w *world) index(token uint64, pages ...int) manifest.Package {
	w.t.Helper()
	var objects []webobject.Object
	for _, n := range pages {
		objects = append(objects, functionstest.Page(layout.Version{Epoch: 1, Token: token}, fmt.Sprintf("http://a.example/%d", n)))
	}
	pkg, _ := functionstest.Package(w.t, w.bucket, 0, objects...)
	functionstest.Commit(w.t, w.bucket, 0, func(m *manifest.Manifest) { m.Add(pkg) })
	w.indexAgain(pkg.Key)
	return pkg
}

func (w *world) indexAgain(key string) {
	w.t.Helper()
	f := &index.Function{
		Bucket: w.bucket, Redis: w.Redis, Sender: new(functionstest.Sender), Now: w.Now, Worker: "i", Tiers: w.Tiers, Log: w.Log,
	}
	if err := f.Run(w.t.Context(), key); err != nil {
		w.t.Fatal(err)
	}
}

// full indexes a tier of packages of two pages: 0 and 1, 2 and 3, …
func (w *world) full() {
	w.t.Helper()
	for n := range w.Tiers.Tier {
		w.index(1, 2*n, 2*n+1)
	}
}

func (w *world) run() {
	w.t.Helper()
	if err := w.Run(w.t.Context(), 0); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) manifest() manifest.Manifest {
	w.t.Helper()
	m, err := manifest.Read(w.t.Context(), w.bucket, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// stands says that a page is alive in a version.
func stands(n int, token uint64) string {
	return fmt.Sprintf("http://a.example/%d %s", n, layout.Version{Epoch: 1, Token: token})
}

// live returns the live documents of all segments, and checks that the parts
// are those of the documents.
func (w *world) live() (live []string) {
	w.t.Helper()
	m := w.manifest()
	for i := range m.Segments {
		s := &m.Segments[i]
		opened, err := segments.Open(w.t.Context(), segments.Ranges{Bucket: w.bucket}, s)
		if err != nil {
			w.t.Fatal(err)
		}
		dead, err := segments.Dead(w.t.Context(), w.bucket, s)
		if err != nil {
			w.t.Fatal(err)
		}
		var parts []manifest.Part
		for _, part := range opened.Parts() {
			parts = append(parts, manifest.Part{Package: m.Package(part.Package).ID, Documents: part.Documents})
		}
		if diff := cmp.Diff(s.Parts, parts); diff != "" {
			w.t.Errorf("parts of %s (-listed +there):\n%s", s.Key, diff)
		}
		for doc := range uint32(s.Documents) {
			d, err := opened.Stored(w.t.Context(), []uint32{doc})
			if err != nil {
				w.t.Fatal(err)
			}
			if !dead.Contains(doc) {
				live = append(live, d[0].URL+" "+d[0].Version.String())
			}
		}
	}
	slices.Sort(live)
	return live
}

func allOf(from, to int, token uint64) (all []string) {
	for n := from; n < to; n++ {
		all = append(all, stands(n, token))
	}
	slices.Sort(all)
	return all
}

func TestMerge(t *testing.T) {
	w := newWorld(t)
	w.index(1, 100)
	w.run()
	if m := w.manifest(); len(m.Segments) != 1 || len(m.Condemned) != 0 {
		t.Fatalf("one segment was merged: %+v", m.Segments)
	}
	for n := range 7 {
		w.index(1, 2*n, 2*n+1)
	}
	before := w.manifest()
	w.run()
	m := w.manifest()
	if len(m.Segments) != 1 || m.Segments[0].Documents != 15 || len(m.Segments[0].Parts) != 8 || m.Segments[0].Deletions != nil {
		t.Errorf("segments %+v", m.Segments)
	}
	for _, s := range before.Segments {
		if !m.IsCondemned(s.Key) {
			t.Errorf("%s is not condemned", s.Key)
		}
	}
	if diff := cmp.Diff(append([]string{stands(0, 1), stands(1, 1), stands(10, 1), stands(100, 1)}, allOf(2, 14, 1)...), w.live(), sorted); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
	if sent := w.sender.Take(); len(sent) != 0 {
		t.Errorf("sent %v", sent)
	}
	w.run()
	if again := w.manifest(); again.Generation != m.Generation {
		t.Errorf("merged again: %+v", again.Segments)
	}
}

var sorted = cmp.Transformer("sorted", func(all []string) []string {
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
})

// Dead documents are left out, and with them parts of which nothing lives.
func TestDeadAreLeftOut(t *testing.T) {
	w := newWorld(t)
	old := w.index(1, 0, 1, 2)
	for n := range 6 {
		w.index(2, n, 10+n)
	}
	w.index(3, 2)
	w.run()
	m := w.manifest()
	if len(m.Segments) != 7 {
		t.Fatalf("%d segments, want those of all packages but the first, of which nothing lives", len(m.Segments))
	}
	w.index(4, 1)
	w.run()
	m = w.manifest()
	if len(m.Segments) != 1 || m.Segments[0].Documents != 12 || m.Segments[0].Deletions != nil {
		t.Errorf("segments %+v", m.Segments)
	}
	if _, _, found := m.Segments[0].Part(m.Package(old.Key).ID); found {
		t.Error("a part of nothing is listed")
	}
	want := []string{stands(0, 2), stands(1, 4), stands(2, 3), stands(3, 2), stands(4, 2), stands(5, 2)}
	want = append(want, allOf(10, 16, 2)...)
	if diff := cmp.Diff(want, w.live(), sorted); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}

// onCommit does something once, just before the function commits.
func (w *world) onCommit(do func()) {
	w.decide = func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Manifests) {
			w.decide = nil
			do()
		}
		return faultblob.None
	}
}

// What dies while segments are merged is dead in the merged one.
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

// A segment that leaves the list meanwhile has the merge begin again.
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

// A package that is indexed anew while its segment is merged is dead there.
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

// What comes back to life while segments are merged, which left it out, has the
// merge begin again.
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

// Who was suspended for an hour before the commit begins again: what was put
// may have been deleted since.
func TestSuspended(t *testing.T) {
	w := newWorld(t)
	clock := functionstest.NewClock()
	w.Now = clock.Now
	w.full()
	put := ""
	w.decide = func(c faultblob.Call) faultblob.Fault {
		switch {
		case c.Op == faultblob.Create:
			put = c.Key
		case put != "": // and now it reads the base of the commit
			w.decide = nil
			clock.Advance(manifest.Fresh)
			if err := w.bucket.Delete(t.Context(), put); err != nil {
				t.Fatal(err)
			}
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

// A segment that is to be written anew and of which nothing is dead is the same
// again, and listed once.
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

// Who loses the race changes nothing.
func TestTwoMerge(t *testing.T) {
	w := newWorld(t)
	w.full()
	other := w.another()
	other.Bucket = w.bucket
	w.onCommit(func() {
		if err := other.Run(t.Context(), 0); err != nil {
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

// What was put and is condemned before it is listed gets another name.
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

// A segment of which more than a fifth is dead, or that holds what is
// forgotten, is written anew.
func TestWrittenAnew(t *testing.T) {
	w := newWorld(t)
	w.index(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	w.index(2, 4, 5)
	w.run()
	if m := w.manifest(); m.Segments[0].Dead() != 2 {
		t.Fatalf("a fifth is not yet enough: %+v", m.Segments)
	}
	w.index(3, 7)
	w.run()
	m := w.manifest()
	if m.Segments[0].Documents != 7 || m.Segments[0].Deletions != nil {
		t.Errorf("segments %+v", m.Segments)
	}
	functionstest.Commit(t, w.bucket, 0, func(m *manifest.Manifest) {
		m.Segments[0].Erase = true
		if err := segments.Mask(t.Context(), w.bucket, m, w.Now(), map[string]*roaring.Bitmap{m.Segments[0].Key: roaring.BitmapOf(3)}); err != nil {
			t.Fatal(err)
		}
	})
	w.run()
	if m := w.manifest(); m.Segments[0].Documents != 6 || m.Segments[0].Deletions != nil || m.Segments[0].Erase {
		t.Errorf("segments %+v", m.Segments)
	}
}

// Many merge and index at once; nothing is lost, nothing is twice.
func TestManyAtOnce(t *testing.T) {
	w := newWorld(t)
	w.Tiers.Tier = 2
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
				if err := own.Run(t.Context(), 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for w.Tiers.Mergeable(new(w.manifest())) != nil {
		w.run()
	}
	want := []string{stands(0, 5), stands(1, 5), stands(2, 5), stands(3, 5), "http://a.example/shared " + layout.Version{Epoch: 1, Token: 53}.String()}
	if diff := cmp.Diff(want, w.live()); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
}

// Whichever storage call fails, another message mends it.
func TestMergeFailsAnywhere(t *testing.T) {
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		w := newWorld(t)
		w.Tiers.Tier = 3
		w.index(1, 0, 1)
		w.index(1, 2, 3)
		w.index(2, 3, 4)
		w.decide = decide
		_ = w.Run(t.Context(), 0)
		w.decide = nil
		w.run()
		m := w.manifest()
		if len(m.Segments) != 1 || len(m.Condemned) != 3 || m.Segments[0].Documents != 5 {
			t.Errorf("segments %+v, condemned %+v", m.Segments, m.Condemned)
		}
		if diff := cmp.Diff([]string{stands(0, 1), stands(1, 1), stands(2, 1), stands(3, 2), stands(4, 2)}, w.live()); diff != "" {
			t.Errorf("live (-want +got):\n%s", diff)
		}
	})
}

// While another merges, nothing is done.
func TestAnotherMerges(t *testing.T) {
	w := newWorld(t)
	w.full()
	leases := lease.New(w.Redis, "another")
	if _, _, err := leases.Acquire(t.Context(), "merge 0000", w.Now(), time.Minute); err != nil {
		t.Fatal(err)
	}
	w.run()
	if m := w.manifest(); len(m.Segments) != 8 {
		t.Errorf("%d segments", len(m.Segments))
	}
}

// A damaged segment stays for repair, and the others are merged without it,
// whatever of it is damaged. Once it is repaired and some time has gone by, it
// is merged too.
func TestDamaged(t *testing.T) {
	for name, harm := range map[string]func(w *world, key string, content []byte) error{
		"its beginning": func(w *world, key string, content []byte) error {
			content[len(content)/4] ^= 1
			return w.bucket.Replace(t.Context(), key, content)
		},
		"its end": func(w *world, key string, content []byte) error {
			return w.bucket.Replace(t.Context(), key, content[:len(content)-1])
		},
		"all of it": func(w *world, key string, _ []byte) error { return w.bucket.Delete(t.Context(), key) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			clock := functionstest.NewClock()
			w.Now = clock.Now
			w.full()
			key := w.manifest().Segments[2].Key
			content, err := w.bucket.Get(t.Context(), key, blob.Range{})
			if err != nil {
				t.Fatal(err)
			}
			if err := harm(w, key, slices.Clone(content)); err != nil {
				t.Fatal(err)
			}
			w.run()
			if m := w.manifest(); len(m.Segments) != 8 {
				t.Errorf("%d segments, when 7 of 8 can be read", len(m.Segments))
			}
			w.index(1, 100)
			w.run()
			if m := w.manifest(); len(m.Segments) != 2 || m.Segments[0].Key != key && m.Segments[1].Key != key {
				t.Errorf("segments %+v, want %s and one more", m.Segments, key)
			}
			if err := w.bucket.Replace(t.Context(), key, content); err != nil {
				t.Fatal(err)
			}
			for n := range 6 {
				w.index(1, 101+n)
			}
			w.run()
			if m := w.manifest(); len(m.Segments) != 8 {
				t.Errorf("%d segments, before it is looked at again", len(m.Segments))
			}
			clock.Advance(asideTime)
			w.run()
			if m := w.manifest(); len(m.Segments) != 1 {
				t.Errorf("%d segments, when all can be read", len(m.Segments))
			}
		})
	}
}

func TestHandle(t *testing.T) {
	w := newWorld(t)
	w.full()
	response, err := w.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "garbage", Body: "?"}, {MessageId: "good", Body: `{"storage":0}`}, {MessageId: "nothing there", Body: `{"storage":7}`},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]events.SQSBatchItemFailure{{ItemIdentifier: "garbage"}}, response.BatchItemFailures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if m := w.manifest(); len(m.Segments) != 1 {
		t.Errorf("%d segments", len(m.Segments))
	}
}

// When more is to be done, another message is sent; if that fails, so does
// this.
func TestMoreToDo(t *testing.T) {
	w := newWorld(t)
	w.Tiers.Most = 4
	w.full()
	w.run()
	if sent := w.sender.Take(); len(sent) != 0 {
		t.Errorf("sent %v", sent)
	}
	for n := range 12 {
		w.index(1, 100+n)
	}
	refused := errors.New("refused")
	w.sender.Fail(refused)
	if err := w.Run(t.Context(), 0); !errors.Is(err, refused) {
		t.Errorf("Run: %v", err)
	}
	w.sender.Fail(nil)
	w.run()
	want := []functionstest.Message{{Queue: task.Merge, Body: `{"storage":0}`}}
	if diff := cmp.Diff(want, w.sender.Take()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// What a merge asks of the store: the manifest twice, of each input its
// deletions before and in the commit, and the whole of it if it is small. It
// puts the segment, the manifest and the hint.
func TestRequests(t *testing.T) {
	w := newWorld(t)
	w.full()
	w.index(2, 0)
	counted := countblob.New(w.bucket)
	w.Bucket = counted
	w.run()
	const inputs, overlays = 9, 1
	if got := counted.Counts(); got.Put != 3 || got.Get != 2*2+inputs+2*overlays || got.List != 0 {
		t.Errorf("requests %+v", got)
	}
	large := newWorld(t)
	large.full()
	large.Tiers.Least = 1
	counted = countblob.New(large.bucket)
	large.Bucket = counted
	large.run()
	t.Logf("%+v for 8 segments of which each is read by ranges", counted.Counts())
}
