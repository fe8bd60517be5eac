package verify

import (
	"slices"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

const site = "http://a.example/"

var batch = layout.Version{Epoch: 1, Token: 1}

// world is a bucket without faults and its frontier: a seed that was stored,
// two pages in another package, and a link that waits.
type world struct {
	t        *testing.T
	bucket   *memblob.Bucket
	front    *frontier.Frontier
	packages []manifest.Package
	segments []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, bucket: memblob.New()}
	rdb := redistest.Embedded(t)
	inForce := functionstest.Publish(t, w.bucket, 1, nil, site)
	functionstest.Open(t, rdb, inForce, 1)
	functionstest.Admit(t, rdb, inForce, site+"waits")
	w.front = frontier.New(rdb, 0)
	w.learn([]string{site}, site+"1", site+"2", site+"waits")
	w.learn([]string{site + "1", site + "2"})
	for id, pkg := range w.packages {
		w.index(uint32(id), pkg.Key)
	}
	return w
}

// learn commits a package of pages, and a book with links from the seed.
func (w *world) learn(pages []string, links ...string) {
	w.t.Helper()
	var learnt book.Book
	var objects []webobject.Object
	for _, url := range pages {
		objects = append(objects, functionstest.Page(batch, url))
	}
	var pkg manifest.Package
	pkg, learnt.Outcomes = functionstest.Package(w.t, w.bucket, 0, objects...)
	for _, url := range links {
		learnt.Links = append(learnt.Links, functionstest.Link(w.t, site, url, 1))
	}
	functionstest.Learn(w.t, w.bucket, 0, learnt, pkg)
	w.packages = append(w.packages, pkg)
}

// index commits a segment of the pages of a package, but for some.
func (w *world) index(id uint32, key string, without ...string) {
	w.t.Helper()
	content, err := w.bucket.Get(w.t.Context(), key, blob.Range{})
	if err != nil {
		w.t.Fatal(err)
	}
	reader, err := webobject.Open(content)
	if err != nil {
		w.t.Fatal(err)
	}
	var documents []segment.Document
	for entry, err := range reader.Objects() {
		if err != nil {
			w.t.Fatal(err)
		}
		if slices.Contains(without, entry.URL) {
			continue
		}
		documents = append(documents, segment.Document{
			ID: layout.IdentityOf(entry.URL), Version: entry.Version, URL: entry.URL, Title: "title", Body: "body",
			Package: key, Offset: entry.Offset, Length: entry.Length,
		})
	}
	built, err := segment.Build(documents)
	if err != nil {
		w.t.Fatal(err)
	}
	listed := manifest.Segment{
		Key: layout.SegmentKey(0, layout.ContentHash(built)), Bytes: int64(len(built)), Documents: len(documents), Packages: []uint32{id},
	}
	if err := blob.CreateOnce(w.t.Context(), w.bucket, listed.Key, built); err != nil {
		w.t.Fatal(err)
	}
	w.commit(func(m *manifest.Manifest) {
		m.Packages[id].Indexed = true
		m.Segments = append(m.Segments, listed)
	})
	w.segments = append(w.segments, listed.Key)
}

func (w *world) commit(edit func(*manifest.Manifest)) {
	w.t.Helper()
	functionstest.Commit(w.t, w.bucket, 0, edit)
}

func (w *world) delete(key string) {
	w.t.Helper()
	if err := w.bucket.Delete(w.t.Context(), key); err != nil {
		w.t.Fatal(err)
	}
}

// change replaces an object by what becomes of it.
func (w *world) change(key string, become func([]byte) []byte) {
	w.t.Helper()
	content, err := w.bucket.Get(w.t.Context(), key, blob.Range{})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.bucket.Replace(w.t.Context(), key, become(content)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) verify() Report {
	w.t.Helper()
	report, err := (&Verifier{Bucket: w.bucket, Frontiers: []*frontier.Frontier{w.front}}).Run(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}
