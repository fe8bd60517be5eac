package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// deleting calls the function before each request for the object with the key.
type deleting struct {
	blob.Reader
	key    string
	before func()
}

// Get implements blob.Reader.
func (d deleting) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	if key == d.key {
		d.before()
	}
	return d.Reader.Get(ctx, key, r)
}

// TestDeletedWhileSearched searches the state of a past moment. After the manifests of that moment were read,
// one object that they list is deleted. If it is deleted because the moment has become too old, the search must
// fail with manifest.ErrNotKept: an answer without the object's pages would be a wrong one. If the object was
// lost, the search must go on without it.
func TestDeletedWhileSearched(t *testing.T) {
	for name, object := range map[string]struct {
		of   func(m *manifest.Manifest) string
		rest int // number of pages and URLs that are found without the object
	}{
		"segment":   {func(m *manifest.Manifest) string { return m.Segments[0].Key }, 2},
		"anchors":   {func(m *manifest.Manifest) string { return m.Segments[0].Anchors.Key }, 4},
		"unvisited": {func(m *manifest.Manifest) string { return m.Unvisited.Key }, 3},
	} {
		for _, old := range []bool{true, false} {
			s := newStore(t, 1)
			s.Publish(querytest.Manual(2)...)
			s.Publish(querytest.Page{URL: "https://example.org/", MIME: "text/html", Data: "x", Title: "Manual", Body: "other", Lang: "en"})
			built := func(ids ...byte) []byte {
				var pages []*segments.Page
				for _, id := range ids {
					pages = append(pages, &segments.Page{Document: segment.Document{ID: [16]byte{id}, URL: "https://far.example/", Lang: "en", Title: "manual", Headings: []string{"manual"}}})
				}
				content, err := segments.Build(pages)
				s.Check(err)
				return content
			}
			p, err := partition.Open(t.Context(), s.Bucket, 0, s.Clock.Now)
			s.Check(err)
			s.Check(p.Commit(t.Context(), func(e *partition.Edit) error {
				_, err := e.SetAnchors(t.Context(), map[string][]byte{e.Manifest().Segments[0].Key: built(1, 2)})
				s.Check(err)
				_, err = e.SetUnvisited(t.Context(), built(3), 1, 0)
				return err
			}))
			moment, key := s.Clock.Now(), object.of(p.Manifest())
			s.Clock.Advance(time.Hour)
			e := s.engine(deleting{s.Bucket, key, func() {
				if old {
					s.Commit(0, func(m *manifest.Manifest) error { m.Oldest = m.Generation + 1; return nil })
				}
				s.Check(s.Bucket.Delete(t.Context(), key))
			}})
			for range 2 {
				found, err := e.Search(t.Context(), Query{Query: search.Query{Text: "manual", Size: 10}, AsOf: moment})
				if old && !errors.Is(err, manifest.ErrNotKept) {
					t.Errorf("%s deleted: %d found, %v; want that nothing is kept", name, found.Total, err)
				}
				if !old && (err != nil || found.Total != object.rest) {
					t.Errorf("%s lost: %d found, %v; want %d", name, found.Total, err, object.rest)
				}
			}
		}
	}
}
