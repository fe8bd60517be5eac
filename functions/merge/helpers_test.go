package merge

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// world is a merge function for tests, with a bucket and Redis.
type world struct {
	*Function
	t      *testing.T
	bucket *memblob.Bucket
	sender *functionstest.Sender
	decide func(faultblob.Call) faultblob.Fault // decides which of the function's storage calls fail; nil: none
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
		Bucket: faulty, Redis: redistest.Server(t), Sender: w.sender, Now: functionstest.NewClock().Now, Worker: "w",
		Tiers: segments.DefaultLimits(), Log: functionstest.Log(),
	}
	return w
}

// another returns a merge function on the same bucket, with leases of its own.
func (w *world) another() *Function {
	return &Function{
		Bucket: w.Bucket, Redis: redistest.Server(w.t), Sender: w.Sender, Now: w.Now, Worker: w.Worker,
		Tiers: w.Tiers, Log: w.Log,
	}
}

// index stores a package of the given pages, lists it and indexes it. All pages are from the batch
// with the given token.
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
		Bucket: w.bucket, Settings: new(functionstest.Fixed), Redis: w.Redis, Sender: new(functionstest.Sender), Now: w.Now, Worker: "i", Tiers: w.Tiers, Log: w.Log,
	}
	if err := f.Run(w.t.Context(), key); err != nil {
		w.t.Fatal(err)
	}
}

// full indexes so many packages of two pages (0 and 1, 2 and 3, …) that their segments fill a tier
// (a size class) and can be merged.
func (w *world) full() {
	w.t.Helper()
	for n := range w.Tiers.Tier {
		w.index(1, 2*n, 2*n+1)
	}
}

func (w *world) run() {
	w.t.Helper()
	if err := w.Run(w.t.Context(), task.Tiers{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) manifest() manifest.Manifest {
	w.t.Helper()
	return functionstest.Manifest(w.t, w.bucket, 0)
}

// stands returns a line as in the result of the method live: it says that page n has a live document
// whose version has the given token.
func stands(n int, token uint64) string {
	return fmt.Sprintf("http://a.example/%d %s", n, layout.Version{Epoch: 1, Token: token})
}

// live returns the live documents of all segments, and checks that the manifest counts them
// rightly for each package.
func (w *world) live() []string {
	w.t.Helper()
	m := w.manifest()
	for _, s := range m.Segments {
		var parts []manifest.Part
		for _, part := range functionstest.Segment(w.t, w.bucket, s).Parts() {
			parts = append(parts, manifest.Part{Package: m.Package(part.Package).ID, Documents: part.Documents})
		}
		if diff := cmp.Diff(s.Parts, parts); diff != "" {
			w.t.Errorf("parts of %s (-listed +there):\n%s", s.Key, diff)
		}
	}
	return functionstest.Live(w.t, w.bucket, m)
}

func allOf(from, to int, token uint64) (all []string) {
	for n := from; n < to; n++ {
		all = append(all, stands(n, token))
	}
	slices.Sort(all)
	return all
}
