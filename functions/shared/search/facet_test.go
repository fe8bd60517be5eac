package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

func TestFacets(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	docs := randomDocuments(random, 200)
	dead := map[layout.Identity]bool{docs[0].ID: true, docs[199].ID: true}
	judge := newOracle(docs, dead)
	names := []string{Site, Collection, Lang}
	one, five := indexWithout(t, dead, docs), indexWithout(t, dead, divide(random, docs, 5)...)
	for _, text := range []string{"baba", "tine ruko -kone", "baba lang:de", `"baba neba" tine`, "unknown"} {
		counts := map[string]map[string]int{Site: {}, Collection: {}, Lang: {}}
		for _, hit := range judge.search(Query{Text: text}) {
			for _, d := range docs {
				if d.ID == hit.id {
					counts[Site][d.Site]++
					counts[Lang][d.Lang]++
					for _, collection := range d.Collections {
						counts[Collection][collection]++
					}
				}
			}
		}
		for _, ix := range []*Index{one, five} {
			got := map[string]map[string]int{}
			for _, facet := range find(t, ix, Query{Text: text, Facets: names}).Facets {
				if facet.Sampled {
					t.Errorf("%s: a sample of few", text)
				}
				got[facet.Name] = map[string]int{}
				for i, value := range facet.Values {
					got[facet.Name][value.Value] = value.Documents
					if i > 0 && value.Documents > facet.Values[i-1].Documents {
						t.Errorf("%s: %v is out of order", text, facet.Values)
					}
				}
			}
			if diff := cmp.Diff(counts, got); diff != "" {
				t.Errorf("%s, %d segments (-want +got):\n%s", text, len(ix.parts), diff)
			}
		}
	}
}

// TestSampledFacets checks that the counts of a facet are about right if they are estimated from a
// sample of the documents.
func TestSampledFacets(t *testing.T) {
	var docs []segment.Document
	for i := range 40 * stretch {
		d := page(fmt.Sprint(i), "ka")
		d.Lang = []string{"en", "en", "de"}[i/64%3]
		docs = append(docs, d)
	}
	ix := indexOf(t, docs[:15*stretch], docs[15*stretch:])
	q := Query{Text: "ka", Facets: []string{Lang}}
	s := &search{ix: ix, query: &q, plan: ix.plan(&q, false), gathered: newGathered(ix.parts)}
	if err := s.read(withoutDeadline(t.Context()), s.plan, q.Facets, nil); err != nil {
		t.Fatal(err)
	}
	s.plan.weigh(s.gathered)
	s.statistics = newStatistics(s.plan.languages, s.plan.weights)
	if err := s.sampleFacets(withoutDeadline(t.Context()), new(scan), 5); err != nil {
		t.Fatal(err)
	}
	facet := s.result.Facets[0]
	if !facet.Sampled || len(facet.Values) != 2 {
		t.Fatalf("facet is %+v", facet)
	}
	for i, share := range []float64{2. / 3, 1. / 3} {
		if got := float64(facet.Values[i].Documents) / float64(len(docs)); math.Abs(got-share) > 0.05 {
			t.Errorf("%s is %.3f of all, want about %.3f", facet.Values[i].Value, got, share)
		}
	}
}
