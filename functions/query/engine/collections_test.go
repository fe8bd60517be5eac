package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestCollections counts the pages of collections. It checks that a page under a takedown is not counted any
// more, nor are the pages of a segment that was deleted from the bucket; a note must then say that a segment
// is damaged.
func TestCollections(t *testing.T) {
	s := newStore(t, 1)
	page := func(url, lang string) querytest.Page {
		return querytest.Page{URL: url, MIME: "text/html", Data: "x", Title: "Title", Body: url, Lang: lang, Collections: []string{"docs"}}
	}
	s.Publish(page("https://a.example/1", "en"), page("https://a.example/2", "de"), page("https://b.example/", "en"))
	s.Publish(page("https://a.example/3", "de"), page("https://a.example/4", "de"))
	check := func(want []Language, note string) {
		t.Helper()
		all, notes, err := s.engine(s.Bucket).Collections(t.Context())
		s.Check(err)
		if len(all) != 1 || all[0].Name != "docs" {
			t.Fatalf("collections %+v", all)
		}
		if diff := cmp.Diff(want, all[0].Languages); diff != "" || !strings.Contains(strings.Join(notes, " "), note) || (note == "") != (len(notes) == 0) {
			t.Errorf("notes %q, languages (-want +got):\n%s", notes, diff)
		}
	}
	check([]Language{{"de", 3}, {"en", 2}}, "")
	_, err := takedown.Forget(t.Context(), s.Bucket, takedown.Site("b.example", querytest.Noon))
	s.Check(err)
	check([]Language{{"de", 3}, {"en", 1}}, "")
	m, err := manifest.Read(t.Context(), s.Bucket, 0)
	s.Check(err)
	s.Check(s.Bucket.Delete(t.Context(), m.Segments[1].Key))
	check([]Language{{"de", 1}, {"en", 1}}, "1 segments of the index are damaged")
}

// TestHashes checks the hashes of stored copies. Those of a package that has been deleted must be zero.
func TestHashes(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(2)...)
	s.Publish(querytest.Page{URL: "https://example.org/manual", MIME: "text/html", Data: "other", Title: "Manual", Body: "other"})
	e := s.engine(s.Bucket)
	found, err := e.Search(t.Context(), Query{Query: search.Query{Text: "manual", Size: 10}})
	s.Check(err)
	m, err := manifest.Read(t.Context(), s.Bucket, 0)
	s.Check(err)
	s.Check(s.Bucket.Delete(t.Context(), m.Packages[1].Key))
	hashes, err := e.Hashes(t.Context(), found.Hits)
	s.Check(err)
	for i, hit := range found.Hits {
		page, err := e.Page(t.Context(), s.Address(hit.URL), querytest.Noon.AddDate(0, 0, 1))
		if deleted := hit.URL == "https://example.org/manual"; deleted != (hashes[i] == [32]byte{}) || !deleted && (err != nil || hashes[i] != page.Hash) {
			t.Errorf("%s: hash %x, of the page %x, %v", hit.URL, hashes[i], page.Hash, err)
		}
	}
	if len(found.Hits) != 3 {
		t.Errorf("%d hits", len(found.Hits))
	}
}
