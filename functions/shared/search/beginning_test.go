package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestBeginning compares the documents whose addresses begin with a text with those that a comparison of
// all addresses finds, in a segment of several languages.
func TestBeginning(t *testing.T) {
	var docs []segment.Document
	for i, path := range []string{"", "old", "old/", "old/a", "old/running/tests", "older/a", "new/old/a", "old-news", "OLD/a", "o%C3%A9/a", "old/?q=1", "ünder/x", "old/1.2/a", "old/1.20/a"} {
		for _, host := range []string{"http://example.org/", "http://www.example.org/", "https://example.org/"} {
			d := page(host+path, "text")
			d.Lang = []string{"en", "de", "", "fr"}[i%4]
			docs = append(docs, d)
		}
	}
	part := Part{Segment: segmentOf(t, docs)}
	for _, beginning := range []string{
		"http://example.org/", "http://example.org/old/", "http://example.org/old", "http://example.org/o", "https://example.org/old/running/", "http://example.org/old/run",
		"http://www.example.org/new/", "http://example.org/o%C3%A9/", "http://example.org/old/?", "http://example.org/old/1.2", "http://absent.example/", "http://example.org/old/absent/",
	} {
		found, err := part.Beginning(t.Context(), beginning)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, doc := range found.ToArray() {
			got = append(got, docs[doc].URL)
		}
		for _, d := range docs {
			if strings.HasPrefix(d.URL, beginning) {
				want = append(want, d.URL)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", beginning, got, want)
		}
	}
	candidates, err := part.addressed(t.Context(), "http://example.org/old/running/")
	if err != nil || candidates.GetCardinality() != 3 {
		t.Errorf("%s documents are read, %v; want the three with these words", fmt.Sprint(candidates), err)
	}
}
