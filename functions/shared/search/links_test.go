package search

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestLinking checks that filters link: accept the pages that Query.Linking names, in all segments, and what is said
// of filters that are ignored.
func TestLinking(t *testing.T) {
	docs := []segment.Document{page("http://a/1", "fox"), page("http://a/2", "fox"), page("http://a/3", "dog")}
	ix := indexOf(t, docs[:1], docs[1:])
	of := map[string][]string{"a": {"http://a/1", "http://a/3"}, "b": {"http://a/1", "http://a/2"}, "none": {}}
	linking := func(_ context.Context, target string) (map[layout.Identity]bool, []string, error) {
		if of[target] == nil {
			return nil, []string{"no target"}, nil
		}
		sources := make(map[layout.Identity]bool)
		for _, url := range of[target] {
			sources[layout.IdentityOf(url)] = true
		}
		return sources, nil, nil
	}
	for _, test := range []struct {
		text  string
		want  []string
		notes []string
	}{
		{"link:a", []string{"http://a/1", "http://a/3"}, nil},
		{"fox link:a", []string{"http://a/1"}, nil},
		{"link:a link:b link:a", []string{"http://a/1"}, nil},
		{"link:a -link:b", []string{"http://a/3"}, nil},
		{"fox -link:none", []string{"http://a/1", "http://a/2"}, nil},
		{"fox link:none", []string{}, []string{"No page links to none."}},
		{"fox link:bad", []string{"http://a/1", "http://a/2"}, []string{"no target"}},
		{"link:bad", []string{}, []string{"no target"}},
		{"link:a link:b -link:none -link:a link:none", []string{}, []string{"Only the first 4 filters link: of the query were used."}},
	} {
		got := find(t, ix, Query{Text: test.text, Size: 9, Linking: linking, Facets: []string{Site}})
		found := []string{}
		for _, hit := range got.Hits {
			found = append(found, hit.URL)
		}
		slices.Sort(found)
		if diff := cmp.Diff(test.want, found); diff != "" || got.Total != len(test.want) || !slices.Equal(got.Notes, test.notes) {
			t.Errorf("%s: total %d, notes %q (-want +got):\n%s", test.text, got.Total, got.Notes, diff)
		}
	}
	if got := find(t, ix, Query{Text: "fox link:a", Size: 9}); got.Total != 2 || len(got.Notes) != 1 {
		t.Errorf("without links: %d, %q", got.Total, got.Notes)
	}
	failed := errors.New("no books")
	_, err := ix.Search(t.Context(), Query{Text: "link:a", Size: 1, Linking: func(context.Context, string) (map[layout.Identity]bool, []string, error) { return nil, nil, failed }})
	if !errors.Is(err, failed) {
		t.Errorf("error %v", err)
	}
}
