package index

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// fetched stores a package of the given pages, and lists it in the manifest. All pages are from the
// batch with the given token.
func (w *world) fetched(token uint64, pages ...int) manifest.Package {
	w.t.Helper()
	var objects []webobject.Object
	for _, n := range pages {
		objects = append(objects, functionstest.Page(layout.Version{Epoch: 1, Token: token}, fmt.Sprintf("http://a.example/%d", n)))
	}
	pkg, _ := functionstest.Package(w.t, w.bucket, 0, objects...)
	w.list(pkg)
	return pkg
}

func stands(n int, token uint64) string {
	return fmt.Sprintf("http://a.example/%d %s", n, layout.Version{Epoch: 1, Token: token})
}

// TestLastVersionLives indexes packages with several versions of pages. It does so in several
// orders, and some packages more than once. Only the document of a page's last version may be
// alive.
func TestLastVersionLives(t *testing.T) {
	want := []string{stands(0, 3), stands(1, 2), stands(2, 3), stands(3, 1)}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0, 1, 0, 2, 2}, {0, 0, 1, 1, 2, 2}} {
		w := newWorld(t)
		packages := []manifest.Package{w.fetched(1, 0, 1, 2, 3), w.fetched(2, 0, 1), w.fetched(3, 0, 2)}
		for _, i := range order {
			w.commit(func(m *manifest.Manifest) { m.Packages[i].Indexed = false })
			w.run(packages[i].Key)
			w.soundOverlays()
		}
		if diff := cmp.Diff(want, w.live()); diff != "" {
			t.Errorf("indexed in order %v (-want +got):\n%s", order, diff)
		}
	}
}

// soundOverlays checks the keys of all listed overlays. An overlay's key contains the number of a
// generation (version of the manifest). This must be the first generation that lists the overlay.
func (w *world) soundOverlays() {
	w.t.Helper()
	m := w.manifest()
	for _, s := range m.Segments {
		if s.Live() == 0 {
			w.t.Errorf("%s is listed without a live document", s.Key)
		}
		if s.Deletions == nil {
			continue
		}
		_, generation, err := layout.ParseOverlayKey(s.Deletions.Key)
		if err != nil || generation > m.Generation {
			w.t.Fatalf("generation %d lists %s, %v", m.Generation, s.Deletions.Key, err)
		}
		first, err := manifest.At(w.t.Context(), w.bucket, 0, generation)
		if err != nil {
			w.t.Fatal(err)
		}
		if !slices.ContainsFunc(first.Segments, func(other manifest.Segment) bool { return cmp.Equal(other.Deletions, s.Deletions) }) {
			w.t.Errorf("generation %d does not list %s", generation, s.Deletions.Key)
		}
	}
}

// TestNothingOfItLives indexes a package whose pages all have later versions: its segment, in which
// no document would be alive, must not be listed.
func TestNothingOfItLives(t *testing.T) {
	w := newWorld(t)
	old, now := w.fetched(1, 0, 1), w.fetched(2, 0, 1)
	w.run(now.Key)
	w.run(old.Key)
	m := w.manifest()
	if len(m.Segments) != 1 || !m.Packages[0].Indexed || len(m.Condemned) != 1 {
		t.Errorf("segments %+v, condemned %+v", m.Segments, m.Condemned)
	}
	if diff := cmp.Diff([]string{stands(0, 2), stands(1, 2)}, w.live()); diff != "" {
		t.Error(diff)
	}
}

// TestVersionsInOnePackage indexes a package with two versions of a page: only the last one may
// become a document.
func TestVersionsInOnePackage(t *testing.T) {
	w := newWorld(t)
	pkg := w.put(1, functionstest.Page(layout.Version{Epoch: 1, Token: 9}, "http://a.example/0"))
	w.list(pkg)
	w.run(pkg.Key)
	if diff := cmp.Diff([]string{stands(0, 9)}, w.live()); diff != "" {
		t.Error(diff)
	}
}

// TestIndexedMeanwhile lets another process list a segment just before the commit. The documents of
// both segments must be compared, so that of each page only the last version is alive.
func TestIndexedMeanwhile(t *testing.T) {
	for _, token := range []uint64{1, 9} { // tokens before and after that of the package
		w := newWorldIn(t, memblob.New(), nil)
		first := w.fetched(2, 5, 6)
		w.run(first.Key)
		other, own := w.fetched(token, 0, 1, 2), w.fetched(5, 1, 2, 3, 5)
		beside := *w.Function
		beside.Bucket = w.bucket
		w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
			if c.Op == faultblob.Create && strings.HasPrefix(c.Key, layout.Manifests) && !w.manifest().Packages[1].Indexed {
				if err := beside.Run(t.Context(), other.Key); err != nil {
					t.Fatal(err)
				}
			}
			return faultblob.None
		})
		w.run(own.Key)
		w.soundOverlays()
		want := []string{stands(0, token), stands(1, max(token, 5)), stands(2, max(token, 5)), stands(3, 5), stands(5, 5), stands(6, 2)}
		if diff := cmp.Diff(want, w.live()); diff != "" {
			t.Errorf("beside version %d (-want +got):\n%s", token, diff)
		}
	}
}

// TestBesideDamage indexes new versions of pages while one of the segments with earlier versions
// cannot be read. The package must be indexed nevertheless, and the earlier versions in the readable
// segment must be dead.
func TestBesideDamage(t *testing.T) {
	for name, harm := range map[string]func(w *world, s manifest.Segment) error{
		"lost": func(w *world, s manifest.Segment) error { return w.bucket.Delete(w.t.Context(), s.Key) },
		"damaged": func(w *world, s manifest.Segment) error {
			return w.bucket.Replace(w.t.Context(), s.Key, make([]byte, s.Bytes))
		},
		"its overlay is lost": func(w *world, s manifest.Segment) error {
			return w.bucket.Delete(w.t.Context(), s.Deletions.Key)
		},
	} {
		w := newWorld(t)
		w.run(w.fetched(1, 0, 1, 2).Key)
		w.run(w.fetched(2, 0, 7).Key)
		if err := harm(w, w.manifest().Segments[0]); err != nil {
			t.Fatal(err)
		}
		w.run(w.fetched(3, 1, 7).Key)
		if m := w.manifest(); len(m.Segments) != 3 || m.Segments[1].Live() != 1 || !m.Packages[2].Indexed {
			t.Errorf("%s: segments %+v", name, m.Segments)
		}
	}
}

// TestBesideADamagedRead flips a bit in the bytes that one read of a segment returns; the object
// itself is sound. Index must read the bytes again, and succeed.
func TestBesideADamagedRead(t *testing.T) {
	for _, cached := range []bool{false, true} {
		w := newWorld(t)
		w.run(w.fetched(1, 0, 1).Key)
		pkg := w.fetched(2, 0)
		w.Bucket = &damagedOnce{Bucket: w.bucket, key: w.manifest().Segments[0].Key}
		if cached {
			w.Ranges = NewRanges(w.Bucket)
		}
		w.run(pkg.Key)
		if diff := cmp.Diff([]string{stands(0, 2), stands(1, 1)}, w.live()); diff != "" {
			t.Errorf("with a cache: %v; documents (-want +got):\n%s", cached, diff)
		}
	}
}

// damagedOnce is a bucket that flips a bit in the first read of the object with the key.
type damagedOnce struct {
	blob.Bucket
	key  string
	done bool
}

func (d *damagedOnce) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	content, err := d.Bucket.Get(ctx, key, r)
	if key == d.key && !d.done {
		d.done = true
		content = bytes.Clone(content)
		content[len(content)-30] ^= 1
	}
	return content, err
}

// TestBesideASilentStore indexes a package with a new version of a page. The segment with the old
// version cannot be read, because the object store fails. Run must fail, and the package must not
// count as indexed.
func TestBesideASilentStore(t *testing.T) {
	w := newWorld(t)
	w.run(w.fetched(1, 0, 1).Key)
	old := w.manifest().Segments[0].Key
	pkg := w.fetched(2, 0)
	w.decide = func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Get && c.Key == old {
			return faultblob.Before
		}
		return faultblob.None
	}
	if err := w.Run(t.Context(), pkg.Key); err == nil || w.manifest().Packages[1].Indexed {
		t.Errorf("Run: %v, and it counts as indexed", err)
	}
}

// TestMergeIsRaised indexes packages until their segments fill a tier (a size class of segments
// that are merged together): only then must index send the function merge a task.
func TestMergeIsRaised(t *testing.T) {
	w := newWorld(t)
	for n := range w.Tiers.Tier {
		if sent := w.sender.Take(); len(sent) != 0 {
			t.Errorf("%d segments: sent %v", n, sent)
		}
		w.run(w.fetched(1, n).Key)
	}
	want := []functionstest.Message{{Queue: task.Merge, Body: `{"storage":0}`}}
	if diff := cmp.Diff(want, w.sender.Take()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// TestRequests indexes a package and counts the requests to the object store. These are allowed:
//
//	read    the manifest (3 times), the takedowns and the package
//	        the filter with the tail of every other segment
//	        the identities with the versions, and the set of dead documents, of segments that have a
//	        page of the package
//	write   the segment, the manifest, and the hint (a copy of the manifest)
//	        an overlay for each segment that changes
func TestRequests(t *testing.T) {
	w := newWorld(t)
	for n := range 6 {
		w.run(w.fetched(1, 10*n, 10*n+1, 10*n+2).Key)
	}
	w.run(w.fetched(2, 10, 20).Key)
	pkg := w.fetched(3, 11, 21, 31)
	counted := countblob.New(w.bucket)
	w.Bucket = counted
	w.run(pkg.Key)
	const segments, older, overlays, sameOverlay = 7, 3, 2, 1
	got := counted.Counts()
	if got.Put != 1+older+2 || got.Get != 3*2+1+segments+older+overlays+sameOverlay || got.List != 1 {
		t.Errorf("requests %+v", got)
	}
}

// TestRequestsOfAFirstCrawl indexes packages of pages that were never stored before, with a cache. For each
// package, only the newest segment must be read, by one request, because the filters of all earlier segments are
// in the cache.
func TestRequestsOfAFirstCrawl(t *testing.T) {
	w := newWorld(t)
	counted := countblob.New(w.bucket)
	w.Bucket, w.Ranges = counted, NewRanges(counted)
	for n := range 6 {
		pkg := w.fetched(1, 10*n, 10*n+1, 10*n+2)
		before := counted.Counts()
		w.run(pkg.Key)
		want := int64(3*2 + 1 + min(n, 1)) // manifest, takedowns and package; the segment
		if got := counted.Counts().Minus(before); got.Get != want {
			t.Errorf("package %d: requests %+v, want %d to read", n, got, want)
		}
	}
}

// TestSameBytes indexes the same package several times: the segments must have the same bytes.
func TestSameBytes(t *testing.T) {
	var before []byte
	for range 3 {
		w := newWorld(t)
		pkg := w.put(20)
		w.list(pkg)
		w.run(pkg.Key)
		content, err := w.bucket.Get(t.Context(), w.manifest().Segments[0].Key, blob.Range{})
		if err != nil || before != nil && string(content) != string(before) {
			t.Fatalf("other bytes, %v", err)
		}
		before = content
	}
}
