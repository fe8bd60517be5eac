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
	for i := range docs {
		if i%4 > 0 { // a quarter states no date
			docs[i].Date = noon.AddDate(-random.IntN(9), 0, -random.IntN(366))
		}
	}
	dead := map[layout.Identity]bool{docs[0].ID: true, docs[199].ID: true}
	judge := newOracle(docs, dead)
	names := []string{Site, Collection, Lang, Year}
	one, five := indexWithout(t, dead, docs), indexWithout(t, dead, divide(random, docs, 5)...)
	for _, text := range []string{"baba", "tine ruko -kone", "baba lang:de", `"baba neba" tine`, "baba after:2020-05 before:2023", "unknown"} {
		counts := map[string]map[string]int{Site: {}, Collection: {}, Lang: {}, Year: {}}
		for _, hit := range judge.search(Query{Text: text}) {
			for _, d := range docs {
				if d.ID == hit.id {
					counts[Site][d.Site]++
					counts[Lang][d.Lang]++
					if !d.Date.IsZero() {
						counts[Year][d.Date.Format("2006")]++
					}
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
					if i == 0 {
						continue
					}
					last := facet.Values[i-1]
					if facet.Name != Year && value.Documents > last.Documents || facet.Name == Year && value.Value > last.Value {
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

// TestYears checks the year of every day that the dates of pages can have.
func TestYears(t *testing.T) {
	days := make(ownDates, math.MaxUint16+1)
	for day := range days {
		days[day] = uint16(day)
	}
	column := days.years()
	if got := column.Get(0); got != nil {
		t.Errorf("no date: %v", got)
	}
	for day := 1; day < len(days); day++ {
		if got, want := column.Get(uint32(day)), dayOf(day).Format("2006"); len(got) != 1 || got[0] != want {
			t.Fatalf("%s: %v", dayOf(day), got)
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
	s := ix.newSearch(&q, ix.plan(&q, false))
	s.number(s.plan)
	if err := s.read(withoutDeadline(t.Context()), s.plan, q.Facets, nil); err != nil {
		t.Fatal(err)
	}
	s.weigh()
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
