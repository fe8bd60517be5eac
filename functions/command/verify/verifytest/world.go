// Package verifytest makes buckets in which package verify finds no problem, for tests that damage
// them.
package verifytest

import (
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/merge"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/epoch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Site is the URL of the only seed. The other pages are Site + "1", Site + "2" and so on.
const Site = "http://a.example/"

// Batch returns the version of a batch: that with the given token (number) in epoch 1.
func Batch(token uint64) layout.Version { return layout.Version{Epoch: 1, Token: token} }

// World is a bucket with one partition, for tests. Its methods fail the test T on an error.
type World struct {
	T        testing.TB
	Bucket   *memblob.Bucket
	Settings *settings.Settings
}

// New returns a world without pages. It has one collection, whose seed is Site.
func New(t testing.TB) *World {
	t.Helper()
	w := &World{T: t, Bucket: memblob.New()}
	w.Settings = functionstest.Publish(t, w.Bucket, 1, nil, Site)
	functionstest.Begin(t, w.Bucket, 0)
	functionstest.Put(t, w.Bucket, layout.EpochKey(1), []byte("1"))
	return w
}

// Small returns a world in which batch 1 stored the seed, and batch 2 stored Site + "1" and
// Site + "2" in another package. Both packages are indexed, and Site + "waits" is pending.
func Small(t testing.TB) *World {
	t.Helper()
	w := New(t)
	w.Index(w.Learn(Batch(1), []string{Site}, Site+"1", Site+"2", Site+"waits"))
	w.Index(w.Learn(Batch(2), []string{Site + "1", Site + "2"}))
	return w
}

// Clone returns a copy of the world.
func (w *World) Clone(t testing.TB) *World {
	t.Helper()
	clone := &World{T: t, Bucket: memblob.New(), Settings: w.Settings}
	for _, key := range functionstest.Keys(t, w.Bucket, "") {
		content, err := w.Bucket.Get(t.Context(), key, blob.Range{})
		if err != nil {
			t.Fatal(err)
		}
		functionstest.Put(t, clone.Bucket, key, content)
	}
	return clone
}

// Learn commits a package and a book of the batch v. The package has a page for each URL in the
// parameter pages. The book has their outcomes, and a link from the seed to each URL in links.
func (w *World) Learn(v layout.Version, pages []string, links ...string) manifest.Package {
	w.T.Helper()
	var objects []webobject.Object
	for _, url := range pages {
		objects = append(objects, functionstest.Page(v, url))
	}
	return w.LearnPages(objects, links...)
}

// LearnPages commits a package and a book. The package has the given pages. The book has their
// outcomes, and a link from the seed to each URL in links.
func (w *World) LearnPages(pages []webobject.Object, links ...string) manifest.Package {
	w.T.Helper()
	pkg, outcomes := w.Package(pages...)
	w.LearnBook(book.Book{Outcomes: outcomes, Links: w.Links(links...)}, pkg)
	return pkg
}

// Package stores a package of the pages, which no manifest lists yet. It returns the manifest's
// entry for the package, and an outcome Stored for each page.
func (w *World) Package(pages ...webobject.Object) (manifest.Package, []book.Outcome) {
	w.T.Helper()
	return functionstest.Package(w.T, w.Bucket, 0, pages...)
}

// LearnBook commits a book and packages in one version of the manifest, and lists the batches of
// the book's outcomes as consumed (packed).
func (w *World) LearnBook(b book.Book, packages ...manifest.Package) {
	w.T.Helper()
	w.learn(b, func(m *manifest.Manifest) {
		for _, pkg := range packages {
			m.Add(pkg)
		}
	})
}

// learn stores a book, and commits a new version of the manifest. This version lists the book, lists
// the batches of the book's outcomes as consumed (packed), and has the changes that the function edit
// makes.
func (w *World) learn(b book.Book, edit func(*manifest.Manifest)) {
	w.T.Helper()
	content, err := book.Encode(b)
	if err != nil {
		w.T.Fatal(err)
	}
	listed := manifest.Book{Key: layout.BookKey(0, layout.ContentHash(content)), Bytes: int64(len(content)), Outcomes: len(b.Outcomes), Links: len(b.Links)}
	if err := blob.CreateOnce(w.T.Context(), w.Bucket, listed.Key, content); err != nil {
		w.T.Fatal(err)
	}
	w.Commit(func(m *manifest.Manifest) {
		m.Books = append(m.Books, listed)
		edit(m)
		for _, o := range b.Outcomes {
			if !m.HasConsumed(o.Version) && !m.IsClosed(o.Version) {
				m.Consumed = append(m.Consumed, manifest.Consumed{Batch: o.Version, At: functionstest.Start})
			}
		}
	})
}

// Links returns a link from the seed to each of the URLs.
func (w *World) Links(urls ...string) []book.Link {
	w.T.Helper()
	var links []book.Link
	for _, url := range urls {
		links = append(links, functionstest.Link(w.T, Site, url, 1))
	}
	return links
}

// Index runs the function index on a package, and returns the segment that has the package's
// documents, or the zero Segment if the package has none.
func (w *World) Index(pkg manifest.Package) manifest.Segment {
	w.T.Helper()
	f := &index.Function{
		Bucket: w.Bucket, Settings: new(functionstest.Fixed), Redis: redistest.Embedded(w.T), Sender: new(functionstest.Sender), Now: functionstest.NewClock().Now,
		Worker: "w", Tiers: segments.DefaultLimits(), Log: functionstest.Log(),
	}
	if err := f.Run(w.T.Context(), pkg.Key); err != nil {
		w.T.Fatal(err)
	}
	m := w.Manifest()
	for _, s := range m.Segments {
		if from, to, found := s.Part(m.Package(pkg.Key).ID); found && to > from {
			return s
		}
	}
	return manifest.Segment{}
}

// IndexWithout builds a segment of a package, but leaves out the pages of the given URLs. It commits a
// manifest that lists this segment in place of the package's earlier one.
func (w *World) IndexWithout(pkg manifest.Package, without ...string) manifest.Segment {
	w.T.Helper()
	built, listed := Segment(w.T, w.Content(pkg.Key), pkg.Key, without...)
	if err := blob.CreateOnce(w.T.Context(), w.Bucket, listed.Key, built); err != nil {
		w.T.Fatal(err)
	}
	w.Commit(func(m *manifest.Manifest) {
		own := m.Package(pkg.Key)
		own.Indexed = true
		listed.Parts[0].Package = own.ID
		m.Segments = slices.DeleteFunc(m.Segments, func(s manifest.Segment) bool { return s.Parts[0].Package == own.ID })
		m.Segments = append(m.Segments, listed)
	})
	return listed
}

// Merge runs the function merge, and returns the merged segment: the first that the new manifest
// lists.
func (w *World) Merge() manifest.Segment {
	w.T.Helper()
	tiers := segments.DefaultLimits()
	tiers.Tier = 2
	f := &merge.Function{
		Bucket: w.Bucket, Redis: redistest.Embedded(w.T), Sender: new(functionstest.Sender), Now: functionstest.NewClock().Now,
		Worker: "w", Tiers: tiers, Log: functionstest.Log(),
	}
	if err := f.Run(w.T.Context(), task.Tiers{}); err != nil {
		w.T.Fatal(err)
	}
	return w.Manifest().Segments[0]
}

// Segment builds a segment of the pages of a package, except those of the given URLs. The
// parameters content and key are the bytes and the key of the package. It returns the bytes of the
// segment, and the manifest's entry for it.
func Segment(t testing.TB, content []byte, key string, without ...string) ([]byte, manifest.Segment) {
	t.Helper()
	reader, err := webobject.Open(content)
	if err != nil {
		t.Fatal(err)
	}
	b := segment.NewBuilder(nil)
	documents := 0
	for entry, err := range reader.Objects() {
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(without, entry.URL) {
			continue
		}
		d := &segment.Document{
			ID: layout.IdentityOf(entry.URL), Version: entry.Version, URL: entry.URL, Site: "a.example", Title: "title", Body: "body",
			Package: key, Offset: entry.Offset, Length: entry.Length,
		}
		tokens := []segment.Token{{Field: segment.Title, Term: "title", Position: 1}, {Field: segment.Body, Term: "body", Position: 1}}
		if err := b.Add(d, slices.Values(tokens)); err != nil {
			t.Fatal(err)
		}
		documents++
	}
	built, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	tail, err := segment.TailOf(built)
	if err != nil {
		t.Fatal(err)
	}
	return built, manifest.Segment{
		Key: layout.SegmentKey(0, layout.ContentHash(built)), Bytes: int64(len(built)), Tail: tail, Documents: documents,
		Parts: []manifest.Part{{Documents: documents}},
	}
}

// Commit commits a new version of the manifest, with the changes that the function edit makes, and
// returns it.
func (w *World) Commit(edit func(*manifest.Manifest)) manifest.Manifest {
	w.T.Helper()
	return functionstest.Commit(w.T, w.Bucket, 0, edit)
}

// Manifest returns the newest version of the manifest.
func (w *World) Manifest() manifest.Manifest {
	w.T.Helper()
	return functionstest.Manifest(w.T, w.Bucket, 0)
}

// Content returns the bytes of the object with the key.
func (w *World) Content(key string) []byte {
	w.T.Helper()
	content, err := w.Bucket.Get(w.T.Context(), key, blob.Range{})
	if err != nil {
		w.T.Fatal(err)
	}
	return content
}

// Delete deletes an object.
func (w *World) Delete(key string) {
	w.T.Helper()
	if err := w.Bucket.Delete(w.T.Context(), key); err != nil {
		w.T.Fatal(err)
	}
}

// Change replaces an object's content by become(content).
func (w *World) Change(key string, become func([]byte) []byte) {
	w.T.Helper()
	if err := w.Bucket.Replace(w.T.Context(), key, become(w.Content(key))); err != nil {
		w.T.Fatal(err)
	}
}

// Flip changes one bit in the middle of content in place, and returns content.
func Flip(content []byte) []byte {
	content[len(content)/2] ^= 1
	return content
}

// Truncate returns the first half of the content.
func Truncate(content []byte) []byte { return content[:len(content)/2] }

// Lose commits an outcome Failed for each of the URLs, as pack does after batch v has failed to
// fetch them. So pages that were stored for them count as gone (no longer at their URLs).
func (w *World) Lose(v layout.Version, urls ...string) {
	w.T.Helper()
	w.learn(book.Book{Outcomes: functionstest.Outcomes(w.T, v, book.Failed, urls...)}, func(m *manifest.Manifest) {
		for _, url := range urls {
			m.AddGone(manifest.Gone{ID: layout.IdentityOf(url), Version: v})
		}
	})
}

// Mask runs one step of the sweep in partition 0. The step masks (marks as dead) the documents whose
// pages are no longer at their URLs.
func (w *World) Mask() {
	w.T.Helper()
	f := &sweep.Function{Bucket: w.Bucket, Now: functionstest.NewClock().Now, Log: functionstest.Log()}
	response, err := f.Handle(w.T.Context(), events.SQSEvent{Records: []events.SQSMessage{{Body: `{"gone":0}`}}})
	if err != nil || len(response.BatchItemFailures) > 0 {
		w.T.Fatal(response, err)
	}
}

// Settle does all the work that a running system would still do: in a new epoch it fetches all
// pending URLs, and then it indexes all packages. If the seed is pending, its page gets the given
// links.
func (w *World) Settle(links ...string) {
	w.T.Helper()
	number, err := epoch.Claim(w.T.Context(), w.Bucket, "settle")
	if err != nil {
		w.T.Fatal(err)
	}
	for token := uint64(1); ; token++ {
		pending := w.pending()
		if len(pending) == 0 {
			break
		}
		var found []string
		if slices.Contains(pending, Site) {
			found = links
		}
		w.Learn(layout.Version{Epoch: number, Token: token}, pending, found...)
	}
	for _, p := range slices.Clone(w.Manifest().Packages) {
		if !p.Indexed {
			w.Index(p)
		}
	}
}

func (w *World) pending() []string {
	w.T.Helper()
	a, err := account.Read(w.T.Context(), w.Bucket, w.Settings)
	if err != nil {
		w.T.Fatal(err)
	}
	var pending []string
	for u, err := range a.All(w.T.Context(), layout.Range{}) {
		if err != nil {
			w.T.Fatal(err)
		}
		if u.State == account.Pending {
			pending = append(pending, u.Address.URL)
		}
	}
	slices.Sort(pending)
	return pending
}
