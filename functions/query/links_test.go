package query

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// TestLinkFilter checks which pages the filter link: accepts: those with links to a page or a host, by the books of all
// partitions.
func TestLinkFilter(t *testing.T) {
	s := newStore(t, 2)
	const site, other = "http://example.org/", "https://other.example/"
	var pages []querytest.Page
	for _, url := range []string{site + "1", site + "2", site + "3", other + "4"} {
		pages = append(pages, querytest.Page{URL: url, MIME: "text/html", Title: url, Body: "A page of the manual.", Lang: "en"})
	}
	s.Publish(pages...)
	link := func(from, to string, kind book.Kind) book.Link {
		a := s.Address(to)
		return book.Link{Source: layout.IdentityOf(from), Target: a.URL, Place: a.Place, Kind: kind, Region: book.Text}
	}
	former := link(site+"3", other+"4", book.Anchor)
	former.Former = true
	learn := func(p layout.Partition, links ...book.Link) (key string) {
		key = s.Put(book.Book{Links: links}, p)
		s.Commit(p, func(m *manifest.Manifest) error {
			m.Books = append(m.Books, manifest.Book{Key: key, Links: len(links), Bytes: 1})
			return nil
		})
		return key
	}
	mail := link(site+"3", "http://example.org:25/jane", book.Anchor)
	learn(0, mail, link(site+"1", other+"4", book.Anchor), link(site+"1", site+"2", book.Anchor), link(site+"2", other+"4", book.Asset), former)
	last := learn(1, link(other+"4", site+"2", book.Anchor), link(site+"absent", site+"2", book.Anchor), link(site+"3", other+"5", book.Anchor))
	e := s.engine(s.Bucket)
	find := func(query string) (found []string, notes string) {
		got, err := e.Search(t.Context(), engine.Query{Query: search.Query{Text: query, Size: 10}})
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for _, hit := range got.Hits {
			found = append(found, hit.URL[len(hit.URL)-1:])
		}
		slices.Sort(found)
		return found, strings.Join(got.Notes, " ")
	}
	for _, test := range []struct {
		query string
		want  []string
		note  string
	}{
		{"link:https://other.example/4", []string{"1"}, ""},
		{"manual link:https://other.example/4", []string{"1"}, ""},
		{"link:http://other.example/4", nil, "No page links to http://other.example/4."},
		{"link:other.example/4", []string{"1"}, ""},
		{"link:other.example", []string{"1", "3"}, ""},
		{"link:OTHER.example/", []string{"1", "3"}, ""},
		{"link:http://example.org/2#part", []string{"1", "4"}, ""},
		{"link:http://example.org/2 -link:other.example", []string{"4"}, ""},
		{"manual -link:example.org", []string{"2", "3"}, ""},
		{"link:example.org link:other.example", []string{"1"}, ""},
		{"link:mailto:jane@example.org", []string{"3"}, ""},
		{"link:jane@EXAMPLE.org", []string{"3"}, ""},
		{"link:nowhere.example", nil, "No page links to nowhere.example."},
		{"link:ftp://other.example/4", nil, "link:ftp://other.example/4 was ignored: write a page or a host, such as link:https://example.org/page or link:example.org."},
	} {
		found, notes := find(test.query)
		if diff := cmp.Diff(test.want, found); diff != "" || notes != test.note {
			t.Errorf("%s: notes %q (-want +got):\n%s", test.query, notes, diff)
		}
	}
	s.Check(s.Bucket.Delete(t.Context(), last))
	if found, notes := find("link:http://example.org/2"); len(found) != 1 || !strings.Contains(notes, "Some links to http://example.org/2 may be missing") {
		t.Errorf("without a book: %v, %q", found, notes)
	}
}
