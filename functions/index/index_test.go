package index

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// world is an index function for tests, with a bucket, settings and Redis.
type world struct {
	*Function
	t      *testing.T
	bucket *memblob.Bucket
	sender *functionstest.Sender
	decide func(faultblob.Call) faultblob.Fault // decides which of the function's storage calls fail; nil: none
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldIn(t, memblob.New(), nil)
}

// newWorldIn is newWorld with the given bucket, and with a function that decides which of the index
// function's storage calls fail.
func newWorldIn(t *testing.T, bucket *memblob.Bucket, decide func(faultblob.Call) faultblob.Fault) *world {
	t.Helper()
	w := &world{t: t, bucket: bucket, sender: new(functionstest.Sender), decide: decide}
	faulty := faultblob.New(bucket, func(c faultblob.Call) faultblob.Fault {
		if w.decide == nil {
			return faultblob.None
		}
		return w.decide(c)
	})
	w.Function = &Function{
		Bucket: faulty, Settings: new(functionstest.Fixed), Redis: redistest.Server(t), Sender: w.sender, Now: functionstest.NewClock().Now, Worker: "w",
		Tiers: segments.DefaultLimits(), Log: functionstest.Log(),
	}
	return w
}

var batch = layout.Version{Epoch: 1, Token: 1}

// put stores a package of n pages, and of the other pages that are given. It returns the manifest's
// entry for the package, which no manifest lists yet.
func (w *world) put(n int, others ...webobject.Object) manifest.Package {
	w.t.Helper()
	pages := others
	for i := range n {
		pages = append(pages, functionstest.Page(batch, fmt.Sprintf("http://a.example/%d", i)))
	}
	pkg, _ := functionstest.Package(w.t, w.bucket, 0, pages...)
	return pkg
}

func (w *world) list(pkg manifest.Package) {
	w.t.Helper()
	functionstest.Commit(w.t, w.bucket, 0, func(m *manifest.Manifest) { m.Add(pkg) })
}

func (w *world) run(key string) {
	w.t.Helper()
	if err := w.Run(w.t.Context(), key); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) manifest() manifest.Manifest {
	w.t.Helper()
	return functionstest.Manifest(w.t, w.bucket, 0)
}

func (w *world) segment(listed manifest.Segment) *segment.Segment {
	w.t.Helper()
	return functionstest.Segment(w.t, w.bucket, listed)
}

// documents returns the live documents of a segment.
func (w *world) documents(listed manifest.Segment) []segment.Document {
	w.t.Helper()
	return functionstest.Documents(w.t, w.bucket, listed)
}

// live returns a line for each live document of all segments, with its URL and version.
func (w *world) live() []string {
	w.t.Helper()
	return functionstest.Live(w.t, w.bucket, w.manifest())
}

// TestPackageThatIsNotListed handles the bucket's event for a package that no manifest lists yet:
// there must be nothing to do.
func TestPackageThatIsNotListed(t *testing.T) {
	w := newWorld(t)
	pkg := w.put(1)
	w.run(pkg.Key)
	if m := w.manifest(); m.Generation != 0 {
		t.Errorf("something was committed: %+v", m)
	}
	w.list(pkg)
	w.run(pkg.Key)
	if m := w.manifest(); len(m.Segments) != 1 || !m.Packages[0].Indexed {
		t.Errorf("packages %+v, segments %+v", m.Packages, m.Segments)
	}
}

func TestDocuments(t *testing.T) {
	w := newWorld(t)
	image := webobject.Object{URL: "http://a.example/image", MIME: "image/svg+xml", Data: []byte("<svg/>"), Version: batch}
	empty := functionstest.Page(batch, "http://a.example/empty")
	empty.Data = nil
	text := webobject.Object{
		URL: "http://sub.a.example/text", MIME: "text/plain; charset=iso-8859-1", Data: []byte("na\xEFve words"),
		Downloaded: functionstest.Start, Version: layout.Version{Epoch: 2, Token: 3},
		Collections: []string{"b", "a", "b"},
	}
	pkg := w.put(1, image, empty, text)
	w.list(pkg)
	w.run(pkg.Key)
	listed := w.manifest().Segments[0]
	if listed.Documents != 3 || !cmp.Equal(listed.Parts, []manifest.Part{{Documents: 3}}) {
		t.Errorf("listed %+v, want three documents of package 0, and none of the image", listed)
	}
	got := w.documents(listed)[2] // sorted by site and URL
	page, err := webobject.Read(t.Context(), w.bucket, got.Package, webobject.Place{Offset: got.Offset, Length: got.Length})
	if err != nil || page.URL != got.URL {
		t.Errorf("where %s is said to stand is %s, %v", got.URL, page.URL, err)
	}
	want := segment.Document{
		ID: layout.IdentityOf(text.URL), Version: text.Version, URL: text.URL, Site: "a.example", Title: "naïve words", Body: "naïve words",
		Lang: got.Lang, MIME: text.MIME, Fetched: text.Downloaded, Package: pkg.Key, Offset: got.Offset, Length: got.Length,
		Collections: []string{"a", "b"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// TestNoIndex indexes pages that say noindex to all robots or to certain ones. If that applies to
// the User-Agent of the index function, the page must get a document without words, so that no
// search finds it.
func TestNoIndex(t *testing.T) {
	w := newWorld(t)
	w.Agent = "ExampleBot/1.0"
	for name, c := range map[string]struct {
		meta, tag string
		shown     bool
	}{
		"meta":               {`<meta name="robots" content="noindex">`, "", false},
		"meta to us":         {`<meta name="examplebot" content="none">`, "", false},
		"meta to another":    {`<meta name="otherbot" content="noindex">`, "", true},
		"header":             {"", "noindex, nofollow", false},
		"header to us":       {"", "examplebot: noindex", false},
		"header to another":  {"", "otherbot: noindex", true},
		"nothing of the two": {`<meta name="robots" content="nofollow">`, "nofollow", true},
	} {
		o := webobject.Object{URL: "http://a.example/", MIME: "text/html", Data: []byte(c.meta + "<p>words")}
		if c.tag != "" {
			o.Header = []webobject.Field{{Name: "X-Robots-Tag", Value: c.tag}}
		}
		e := extractor{pageRules{new(settings.Settings), w.Agent}, document.Stored}
		content, err := e.content(address.Address{URL: o.URL}, o, e.parse)
		if err != nil || content.shown != c.shown || c.shown != (content.Body == "words") {
			t.Errorf("%s: content %+v, %v", name, content, err)
		}
	}
	o := functionstest.Page(batch, "http://a.example/")
	o.Header = []webobject.Field{{Name: "X-Robots-Tag", Value: "noindex"}}
	pkg := w.put(0, o)
	w.list(pkg)
	w.run(pkg.Key)
	listed := w.manifest().Segments[0]
	if words := w.segment(listed).Totals(); listed.Documents != 1 || words.Fields != (segment.Totals{}).Fields {
		t.Errorf("%d documents with words %+v, want one without", listed.Documents, words)
	}
}

func TestPackageIsIndexedOnce(t *testing.T) {
	w := newWorld(t)
	pkg := w.put(20)
	w.list(pkg)
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			if err := w.Run(t.Context(), pkg.Key); err != nil && !errors.Is(err, errBusy) {
				t.Error(err)
			}
		})
		runs.Go(func() { // runs whose lease was lost
			if err := w.build(t.Context(), 0, 0); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()
	w.run(pkg.Key)
	m := w.manifest()
	if len(m.Segments) != 1 || m.Segments[0].Documents != 20 || m.Generation != 2 {
		t.Errorf("generation %d, segments %+v", m.Generation, m.Segments)
	}
}

func TestPackageInOtherHandsComesAgain(t *testing.T) {
	w := newWorld(t)
	pkg := w.put(1)
	w.list(pkg)
	leases := lease.New(w.Redis, "another")
	held, _, err := leases.Acquire(t.Context(), "index "+pkg.Key, w.Now(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context(), pkg.Key); !errors.Is(err, errBusy) {
		t.Errorf("Run: %v, want %v", err, errBusy)
	}
	if err := leases.Release(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	w.run(pkg.Key)
}

// TestNothingToSearch indexes a page without text. No search may find it, not even by a word of its
// address. An earlier version of the page must be dead afterwards, no matter which version is
// indexed first.
func TestNothingToSearch(t *testing.T) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		w := newWorld(t)
		archive := webobject.Object{URL: "http://a.example/0", MIME: "application/zip", Data: []byte("PK"), Version: layout.Version{Epoch: 1, Token: 2}}
		packages := []manifest.Package{w.put(1), w.put(0, archive)}
		w.list(packages[0])
		w.list(packages[1])
		for _, i := range order {
			w.run(packages[i].Key)
		}
		m := w.manifest()
		if len(m.Segments) != 1 || !m.Packages[0].Indexed || !m.Packages[1].Indexed {
			t.Fatalf("packages %+v, segments %+v", m.Packages, m.Segments)
		}
		if diff := cmp.Diff([]string{archive.URL + " " + archive.Version.String()}, w.live()); diff != "" {
			t.Errorf("order %v: documents (-want +got):\n%s", order, diff)
		}
		if terms, _, err := w.segment(m.Segments[0]).Prefix(t.Context(), "", 10); err != nil || len(terms) > 0 {
			t.Errorf("it is found by %d words, %v", len(terms), err)
		}
	}
}

func TestDamagedPackage(t *testing.T) {
	for name, harm := range map[string]func(content []byte) []byte{
		"a byte is flipped": func(content []byte) []byte { content[len(content)/2] ^= 1; return content },
		"cut short":         func(content []byte) []byte { return content[:len(content)/2] },
		"empty":             func([]byte) []byte { return nil },
	} {
		w := newWorld(t)
		pkg := w.put(3)
		w.list(pkg)
		content, err := w.bucket.Get(t.Context(), pkg.Key, blob.Range{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.bucket.Replace(t.Context(), pkg.Key, harm(content)); err != nil {
			t.Fatal(err)
		}
		body := string(message.S3Event("b", pkg.Key, pkg.Bytes, w.Now()))
		response, err := w.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: body}}})
		if err != nil || len(response.BatchItemFailures) != 1 {
			t.Errorf("%s: %+v, %v", name, response, err)
		}
		if err := w.Run(t.Context(), pkg.Key); err == nil || !strings.Contains(err.Error(), "package") {
			t.Errorf("%s: %v, want an error that speaks of the package", name, err)
		}
		if m := w.manifest(); m.Packages[0].Indexed || len(m.Segments) != 0 {
			t.Errorf("%s: it counts as indexed", name)
		}
	}
}

func TestHandle(t *testing.T) {
	w := newWorld(t)
	pkg := w.put(1)
	w.list(pkg)
	event := func(key string) string { return string(message.S3Event("b", key, 1, w.Now())) }
	response, err := w.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "garbage", Body: "?"},
		{MessageId: "foreign", Body: event("packages/notes.txt")},
		{MessageId: "absent", Body: event(layout.PackageKey(0, layout.PackageName{Base: 2}))},
		{MessageId: "good", Body: event(pkg.Key)},
		{MessageId: "again", Body: event(pkg.Key)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []events.SQSBatchItemFailure{{ItemIdentifier: "garbage"}, {ItemIdentifier: "foreign"}}
	if diff := cmp.Diff(want, response.BatchItemFailures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if len(w.manifest().Segments) != 1 {
		t.Error("the package was not indexed")
	}
}
