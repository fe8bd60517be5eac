package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

var later = functionstest.Start.Add(time.Hour)

// bucketOf returns a bucket, and the compressed sizes of its pages. There are four pages on three
// hosts of two sites: page 2 is German, page 3 is in two collections, and page 4 is not indexed and
// was downloaded a day later. A fifth object is an image, also of the later day.
func bucketOf(t *testing.T) (*memblob.Bucket, *settings.Settings, []int64) {
	t.Helper()
	bucket := memblob.New()
	s := functionstest.Publish(t, bucket, 1, nil, "http://a.example.org/")
	v := layout.Version{Epoch: 1, Token: 1}
	var sizes []int64
	for i, urls := range [][]string{{"http://a.example.org/1", "http://b.example.org/2", "http://c.example.com/3"}, {"http://a.example.org/4", "http://a.example.org/5.png"}} {
		var objects []webobject.Object
		for _, url := range urls {
			objects = append(objects, functionstest.Page(v, url))
		}
		listed, outcomes := functionstest.Package(t, bucket, 0, objects...)
		for i := range outcomes {
			sizes = append(sizes, outcomes[i].Length)
			if strings.HasSuffix(outcomes[i].URL, "3") {
				outcomes[i].Collections = append(outcomes[i].Collections, "zoo")
			}
			outcomes[i].Asset = strings.HasSuffix(outcomes[i].URL, "png")
			if outcomes[i].Asset || strings.HasSuffix(outcomes[i].URL, "4") {
				outcomes[i].Time = functionstest.Start.Add(24 * time.Hour)
			}
		}
		links := []book.Link{functionstest.Link(t, urls[0], urls[0]+"/next", 1)}
		functionstest.Learn(t, bucket, 0, book.Book{Outcomes: outcomes, Links: links}, listed)
		if i == 0 {
			functionstest.Index(t, bucket, 0, listed.Key, func(o webobject.Object) string {
				return map[bool]string{true: "de", false: "en"}[strings.HasSuffix(o.URL, "2")]
			})
		}
	}
	return bucket, s, sizes
}

func TestReport(t *testing.T) {
	bucket, s, n := bucketOf(t)
	got, err := Make(t.Context(), bucket, s, later)
	if err != nil {
		t.Fatal(err)
	}
	sizes := got.Sizes
	got.Sizes = nil
	all := n[0] + n[1] + n[2] + n[3] // without the image
	want := &Report{
		At: later, Total: Row{"", 4, 2, all, 1, n[4]},
		Languages:   []Row{{"en", 2, 2, n[0] + n[2], 0, 0}, {"", 1, 1, n[3], 0, 0}, {"de", 1, 1, n[1], 0, 0}},
		Sources:     []Row{{"", 4, 2, all, 0, 0}},
		Collections: []Row{{functionstest.Collection, 4, 2, all, 1, n[4]}, {"zoo", 1, 1, n[2], 0, 0}},
		Sites:       []Row{{"example.org", 3, 1, n[0] + n[1] + n[3], 1, n[4]}, {"example.com", 1, 1, n[2], 0, 0}},
		Days:        []Row{{"2026-11-21", 3, 2, n[0] + n[1] + n[2], 0, 0}, {"2026-11-22", 1, 1, n[3], 1, n[4]}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	m := functionstest.Manifest(t, bucket, 0)
	const magics = 8 // of the segment
	if sum := sizes[kinds+1]; sum.What != "all" || sum.Bytes != m.Bytes()-magics {
		t.Errorf("%+v, want %d bytes", sum, m.Bytes()-magics)
	}
	for row, count := range map[int]int64{fetched: 5, packages: 2, texts: 3, tails: 1, links: 2, outcomes: 5, directories: 2} {
		if sizes[row].Count != count || sizes[row].Bytes <= 0 {
			t.Errorf("%+v, want a count of %d", sizes[row], count)
		}
	}
	whole := int64(0) // of the Web objects before compression
	for _, pkg := range m.Packages {
		pages, err := webobject.List(t.Context(), bucket, pkg.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			whole += page.Size
		}
	}
	if got := sizes[fetched].Bytes; got != whole+2*int64(len(webobject.WebopMagic)) {
		t.Errorf("%d bytes before compression, want %d", got, whole)
	}
}

// TestDamage damages a package and a segment: Make counts everything else, and the report names
// both objects.
func TestDamage(t *testing.T) {
	bucket, s, _ := bucketOf(t)
	m := functionstest.Manifest(t, bucket, 0)
	for _, key := range []string{m.Packages[0].Key, m.Segments[0].Key} {
		content, err := bucket.Get(t.Context(), key, blob.Range{})
		if err != nil {
			t.Fatal(err)
		}
		content[len(content)-25] ^= 0xFF
		if err := bucket.Replace(t.Context(), key, content); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Make(t.Context(), bucket, s, later)
	if err != nil {
		t.Fatal(err)
	}
	if got.Total.Pages != 4 || len(got.Languages) != 1 || len(got.Faults) != 3 || got.Sizes[fetched].Count != 2 ||
		!slices.ContainsFunc(got.Faults, func(f string) bool { return strings.Contains(f, m.Packages[0].Key) }) {
		t.Errorf("%+v", got)
	}
}

// TestFaults lets each request to the object store fail in turn: Make must return an error, never a
// wrong report.
func TestFaults(t *testing.T) {
	bucket, s, _ := bucketOf(t)
	want, err := Make(t.Context(), bucket, s, later)
	if err != nil {
		t.Fatal(err)
	}
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		got, err := Make(t.Context(), faultblob.New(bucket, decide), s, later)
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Error(diff)
		}
	})
}
