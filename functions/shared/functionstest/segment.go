package functionstest

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// Index builds a segment of the pages of a package, stores it, and adds it to the partition's
// manifest. The parameter key is the key of the package. The manifest must list the package already.
// The documents have no words; their languages are those that the function lang returns for the
// pages.
func Index(t testing.TB, bucket blob.Bucket, p layout.Partition, key string, lang func(webobject.Object) string) {
	t.Helper()
	content, err := bucket.Get(t.Context(), key, blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := webobject.Open(content)
	if err != nil {
		t.Fatal(err)
	}
	b := segment.NewBuilder(nil)
	documents := 0
	for o, err := range stored.Objects() {
		if err != nil {
			t.Fatal(err)
		}
		d := segment.Document{
			ID: layout.IdentityOf(o.URL), Version: o.Version, URL: o.URL, Title: "title of " + o.URL, Lang: lang(o.Object), MIME: o.MIME,
			Fetched: o.Downloaded, Package: key, Offset: o.Offset, Length: o.Length,
		}
		if err := b.Add(&d, func(func(segment.Token) bool) {}); err != nil {
			t.Fatal(err)
		}
		documents++
	}
	if content, err = b.Finish(); err != nil {
		t.Fatal(err)
	}
	tail, err := segment.TailOf(content)
	if err != nil {
		t.Fatal(err)
	}
	listed := manifest.Segment{Key: layout.SegmentKey(p, layout.ContentHash(content)), Bytes: int64(len(content)), Tail: tail, Documents: documents}
	Put(t, bucket, listed.Key, content)
	Commit(t, bucket, p, func(m *manifest.Manifest) {
		pkg := m.Package(key)
		pkg.Indexed = true
		listed.Parts = []manifest.Part{{Package: pkg.ID, Documents: documents}}
		m.Segments = append(m.Segments, listed)
	})
}
