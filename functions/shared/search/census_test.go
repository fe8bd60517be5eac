package search

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

// TestCensus checks that a census counts each live page of all segments once, and no others, and that a
// sample has only live pages.
func TestCensus(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	docs := randomDocuments(random, 200)
	dead := map[layout.Identity]bool{docs[0].ID: true, docs[199].ID: true}
	want := []map[string]int{{}, {}}
	for _, d := range docs {
		if dead[d.ID] {
			continue
		}
		want[0][d.Site]++
		for _, collection := range d.Collections {
			want[1][collection]++
		}
	}
	for _, ix := range []*Index{indexWithout(t, dead, docs), indexWithout(t, dead, divide(random, docs, 5)...)} {
		got, err := ix.Census(t.Context(), Site, Collection)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || ix.Documents() != 198 {
			t.Errorf("%d documents in %d segments (-want +got):\n%s", ix.Documents(), len(ix.parts), diff)
		}
		for n, least := range map[int]int{0: 0, 12: 10, 500: 198} {
			sample, err := ix.Sample(t.Context(), n)
			if err != nil || len(sample) < least || len(sample) > n {
				t.Fatalf("a sample of %d: %d pages, %v", n, len(sample), err)
			}
			seen := make(map[layout.Identity]bool)
			for _, d := range sample {
				if dead[d.ID] || seen[d.ID] {
					t.Errorf("%s is dead, or in the sample twice", d.URL)
				}
				seen[d.ID] = true
			}
		}
	}
	if sample, err := indexWithout(t, nil).Sample(t.Context(), 5); err != nil || len(sample) > 0 {
		t.Errorf("a sample of nothing: %v, %v", sample, err)
	}
}

// TestMark checks that words are marked in whole texts, with their line breaks.
func TestMark(t *testing.T) {
	ix := indexWithout(t, nil, randomDocuments(rand.New(rand.NewPCG(4, 4)), 5))
	got := ix.Mark(Query{Text: "the fox"}, "en", []string{"The foxes\n  ran.", "", "cats"})
	want := [][]Fragment{{{"The ", false}, {"foxes", true}, {"\n  ran.", false}}, nil, {{"cats", false}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marked (-want +got):\n%s", diff)
	}
}
