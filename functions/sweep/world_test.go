package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/merge"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

func init() { manifest.Small = 0 } // so that generations of small partitions are deltas, too

// pack stores pages in a package, and stores a book in which each page has a link to every page. It
// commits both, and indexes the package.
func (w *world) pack(p layout.Partition, token uint64, urls ...string) {
	w.t.Helper()
	var pages []webobject.Object
	for _, url := range urls {
		pages = append(pages, functionstest.Page(version(token), url))
	}
	pkg, outcomes := functionstest.Package(w.t, w.bucket, p, pages...)
	learnt := book.Book{Outcomes: outcomes}
	for _, from := range urls {
		for _, to := range urls {
			learnt.Links = append(learnt.Links, functionstest.Link(w.t, from, to, 1))
		}
	}
	if err := w.learn(p, learnt, pkg); err != nil {
		w.t.Fatal(err)
	}
	w.index(p)
}

// errCondemned means that the sweep has marked an object for deletion before a manifest listed it.
var errCondemned = errors.New("condemned meanwhile")

// learn commits a book (outcomes of URLs, and links) and packages, at the time of the clock.
func (w *world) learn(p layout.Partition, learnt book.Book, packages ...manifest.Package) error {
	content, err := book.Encode(learnt)
	if err != nil {
		return err
	}
	listed := manifest.Book{Key: layout.BookKey(p, layout.ContentHash(content)), Bytes: int64(len(content))}
	if err := blob.CreateOnce(w.t.Context(), w.bucket, listed.Key, content); err != nil {
		return err
	}
	_, err = manifest.Commit(w.t.Context(), w.bucket, p, w.Now, func(m *manifest.Manifest) error {
		m.Books = append(m.Books, listed)
		for _, pkg := range packages {
			m.Add(pkg)
		}
		for key := range m.Objects() {
			if w.hasCondemned(m, key) {
				return errCondemned
			}
		}
		return nil
	})
	return err
}

// condemned returns all records of condemned objects: those in a manifest, and those in its lists.
func (w *world) condemned(m *manifest.Manifest) []manifest.Condemned {
	all := slices.Clone(m.Condemned)
	for _, l := range m.CondemnedLists {
		records, err := partition.ReadCondemnedList(w.t.Context(), w.bucket, l)
		if err != nil {
			w.t.Error(err)
		}
		for _, c := range records {
			c.Erase, c.Gone = c.Erase || l.Erase, l.Gone
			all = append(all, c)
		}
	}
	return all
}

// hasCondemned reports whether a manifest or one of its lists has a record of the object with the key.
func (w *world) hasCondemned(m *manifest.Manifest, key string) bool {
	return slices.ContainsFunc(w.condemned(m), func(c manifest.Condemned) bool { return c.Key == key })
}

// orphan stores the objects that pack and index store for a page, but commits no manifest that
// lists them.
func (w *world) orphan(p layout.Partition, token uint64, url string) {
	w.t.Helper()
	pkg, outcomes := functionstest.Package(w.t, w.bucket, p, functionstest.Page(version(token), url))
	content, err := book.Encode(book.Book{Outcomes: outcomes})
	if err != nil {
		w.t.Fatal(err)
	}
	functionstest.Put(w.t, w.bucket, layout.BookKey(p, layout.ContentHash(content)), content)
	functionstest.Put(w.t, w.bucket, layout.SegmentKey(p, layout.ContentHash([]byte(pkg.Key))), []byte(url))
	functionstest.Commit(w.t, w.bucket, p, func(m *manifest.Manifest) { // another commit comes first
		m.Consumed = append(m.Consumed, manifest.Consumed{Batch: version(token), At: w.clock.Now()})
	})
}

// index indexes all packages of a partition.
func (w *world) index(p layout.Partition) {
	w.t.Helper()
	f := &index.Function{
		Bucket: w.bucket, Settings: new(functionstest.Fixed), Redis: w.Redis, Sender: new(functionstest.Sender), Now: w.Now, Worker: "i", Tiers: w.Limits.Tiers, Log: functionstest.Log(),
	}
	for _, pkg := range w.manifest(p).Packages {
		if err := f.Run(w.t.Context(), pkg.Key); err != nil {
			w.t.Fatal(err)
		}
	}
}

// merge merges segments of a partition until none can be merged any more.
func (w *world) merge(p layout.Partition) {
	w.t.Helper()
	f := &merge.Function{
		Bucket: w.bucket, Redis: w.Redis, Sender: new(functionstest.Sender), Now: w.Now, Worker: "m", Tiers: w.Limits.Tiers, Log: functionstest.Log(),
	}
	for m := w.manifest(p); f.Tiers.Mergeable(&m, false) != nil; m = w.manifest(p) {
		if err := f.Run(w.t.Context(), task.Tiers{Storage: p}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) forget(sites []string, urls ...string) {
	w.t.Helper()
	var entries []takedown.Entry
	for _, site := range sites {
		entries = append(entries, takedown.Site(site, w.clock.Now()))
	}
	for _, url := range urls {
		a, err := address.Parse(url)
		if err != nil {
			w.t.Fatal(err)
		}
		entries = append(entries, takedown.URL(a, w.clock.Now()))
	}
	if _, err := takedown.Forget(w.t.Context(), w.bucket, entries...); err != nil {
		w.t.Fatal(err)
	}
}

// stock is the content of all books, packages and segments of a partition.
type stock struct {
	Outcomes, Links []string // outcomes and links, as sorted lines
	Pages           []string // pages, as sorted lines
	Documents       []string // documents, dead ones included, as sorted lines
}

// stock returns the content of a partition, and checks that the pages are where the books say.
func (w *world) stock(p layout.Partition) (s stock) {
	w.t.Helper()
	m := w.manifest(p)
	for _, listed := range m.Books {
		content, err := w.bucket.Get(w.t.Context(), listed.Key, blob.Range{})
		if err != nil {
			w.t.Fatal(err)
		}
		learnt, err := book.Decode(content)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, o := range learnt.Outcomes {
			s.Outcomes = append(s.Outcomes, fmt.Sprintf("%s %v %v %s", o.URL, o.Version, o.State, o.Detail))
			if o.State == book.Stored && o.Package != "" {
				w.stands(&m, o)
			}
		}
		for _, l := range learnt.Links {
			s.Links = append(s.Links, l.Source.String()+" "+l.Target)
		}
	}
	for _, listed := range m.Packages {
		pages, err := webobject.List(w.t.Context(), w.bucket, listed.Key)
		if err != nil || len(pages) != listed.Pages {
			w.t.Errorf("%+v lists %d pages, %v", listed, len(pages), err)
		}
		for _, own := range pages {
			s.Pages = append(s.Pages, own.URL)
		}
	}
	for _, listed := range m.Segments {
		opened, err := partition.OpenSegment(w.t.Context(), segment.Ranges{Bucket: w.bucket}, &listed)
		if err != nil {
			w.t.Fatal(err)
		}
		for doc := range uint32(listed.Documents) {
			d, err := opened.Stored(w.t.Context(), []uint32{doc})
			if err != nil {
				w.t.Fatal(err)
			}
			s.Documents = append(s.Documents, d[0].URL)
		}
	}
	slices.Sort(s.Documents)
	slices.Sort(s.Outcomes)
	slices.Sort(s.Links)
	slices.Sort(s.Pages)
	return s
}

func (w *world) stands(m *manifest.Manifest, o book.Outcome) {
	w.t.Helper()
	pkg := m.Package(o.Package)
	if pkg == nil {
		w.t.Errorf("%s stands in %s, which is not listed", o.URL, o.Package)
		return
	}
	own, err := webobject.Read(w.t.Context(), w.bucket, pkg.Key, webobject.Place{Offset: o.Offset, Length: o.Length})
	if err != nil || own.URL != o.URL {
		w.t.Errorf("where %s stands is %q, %v", o.URL, own.URL, err)
	}
}

// live returns the live documents of a partition, those that searches can find.
func (w *world) live(p layout.Partition) (live []segment.Document) {
	w.t.Helper()
	m := w.manifest(p)
	for _, listed := range m.Segments {
		opened, err := partition.OpenSegment(w.t.Context(), segment.Ranges{Bucket: w.bucket}, &listed)
		if err != nil {
			w.t.Fatal(err)
		}
		dead, err := partition.Dead(w.t.Context(), w.bucket, &listed)
		if err != nil {
			w.t.Fatal(err)
		}
		for doc := range uint32(listed.Documents) {
			d, err := opened.Stored(w.t.Context(), []uint32{doc})
			if err != nil {
				w.t.Fatal(err)
			}
			if !dead.Contains(doc) {
				live = append(live, d[0])
			}
		}
	}
	return live
}

// checkKeys checks that the partition has exactly the books, packages and segments that its newest
// manifest lists.
func (w *world) checkKeys(p layout.Partition) {
	w.t.Helper()
	m := w.manifest(p)
	var want, got []string
	for key := range keysOf(&m) {
		if !strings.HasPrefix(key, layout.Overlays) {
			want = append(want, key)
		}
	}
	for _, prefix := range []string{layout.Books, layout.Packages, layout.Segments} {
		got = append(got, functionstest.Keys(w.t, w.bucket, prefix+p.String()+"/")...)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("objects of partition %s (-listed +there):\n%s", p, diff)
	}
}

func newQuiet(t *testing.T) *world {
	t.Helper()
	return newWorld(t, redistest.Server(t))
}

// keysOf returns the keys of all objects that a manifest lists.
func keysOf(m *manifest.Manifest) map[string]bool {
	keys := make(map[string]bool)
	for key := range m.Objects() {
		keys[key] = true
	}
	return keys
}
