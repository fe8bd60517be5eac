package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Ranks add to scores, also where documents are passed over because of bounds, and the
// explanations say how much.
func TestRanksAdd(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	docs := randomDocuments(random, 400)
	ix := indexOf(t, divide(random, docs, 3)...)
	ranked := *ix
	ranked.parts = nil
	for i, p := range ix.parts {
		if i != 1 { // the second segment is not ranked
			for range p.Segment.Documents() {
				p.Ranks = append(p.Ranks, segment.Rank(random.IntN(80)))
			}
		}
		ranked.parts = append(ranked.parts, p)
	}
	ranked.weighRanks(3)
	hurried := ranked
	hurried.exactly = 0 // bounds are used from the first match on
	added := 0
	for range racetest.Rounds(300, 30) {
		q := randomQuery(random)
		q.From, q.Explain = 0, true
		all := find(t, &ranked, q)
		if diff := cmp.Diff(scoresOf(all), scoresOf(find(t, &hurried, q))); diff != "" {
			t.Fatalf("%s (-all +with bounds):\n%s", q.Text, diff)
		}
		for _, hit := range all.Hits {
			if math.Abs(hit.Explanation.Value-hit.Score) > 1e-9 {
				t.Fatalf("%s: %s scores %v, explained by %+v", q.Text, hit.URL, hit.Score, hit.Explanation)
			}
			checkSums(t, hit.Explanation)
			for _, part := range hit.Explanation.Parts {
				if len(part.What) > 4 && part.What[:4] == "rank" {
					added++
				}
			}
		}
	}
	if added == 0 {
		t.Error("no rank was added")
	}
	for _, hit := range find(t, ix, Query{Text: "ba* be* bi*", Size: 10, Explain: true}).Hits {
		for _, part := range hit.Explanation.Parts {
			if part.What[:4] == "rank" {
				t.Errorf("without ranks: %+v", part)
			}
		}
	}
}

func scoresOf(r Result) (scores []float64) {
	for _, hit := range r.Hits {
		scores = append(scores, math.Round(hit.Score*1e9)/1e9)
	}
	return scores
}
