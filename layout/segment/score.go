package segment

import (
	"math"
	"slices"

	"github.com/blugelabs/bluge/search"
)

const (
	saturation   = 1.2  // k1 of BM25
	lengthEffect = 0.75 // b of BM25

	allWords   = 2.0 // times the score of a document that holds every word
	nearWeight = 0.5 // of a phrase beside that of its words
)

// fieldWeights say what a match in a field is worth beside one in the body.
var fieldWeights = [fieldCount]float64{title: 2, headings: 1.25, address: 0.75, body: 1}

// idf is the inverse document frequency of BM25, never negative (Robertson and
// Zaragoza 2009, 3.1, with one added under the logarithm). bluge's own has a
// fault of precedence.
func idf(frequency uint64, documents int) float64 {
	return math.Log(1 + (float64(documents)-float64(frequency)+0.5)/(float64(frequency)+0.5))
}

// bm25 scores a term in a field.
type bm25 struct{ weight, base, slope float64 }

func newBM25(weight, averageLength float64) bm25 {
	return bm25{weight: weight * (saturation + 1), base: saturation * (1 - lengthEffect), slope: saturation * lengthEffect / averageLength}
}

// Score implements search.Scorer.
func (s bm25) Score(freq int, norm float64) float64 {
	return s.weight * float64(freq) / (float64(freq) + s.base + s.slope*lengthOf(norm))
}

// Explain implements search.Scorer.
func (s bm25) Explain(freq int, norm float64) *search.Explanation {
	return search.NewExplanation(s.Score(freq, norm), "bm25")
}

// sum adds scores from the smallest to the largest, because the order in which
// searchers report depends on how documents are numbered. A match of all
// constituents counts bonus times, if there are more than one.
type sum struct {
	all   int
	bonus float64
}

// ScoreComposite implements search.CompositeScorer.
func (s sum) ScoreComposite(constituents []*search.DocumentMatch) float64 {
	var space [16]float64
	scores := space[:0]
	for _, c := range constituents {
		scores = append(scores, c.Score)
	}
	slices.Sort(scores)
	total := 0.0
	for _, score := range scores {
		total += score
	}
	if s.all > 1 && len(scores) == s.all {
		total *= s.bonus
	}
	return total
}

// ExplainComposite implements search.CompositeScorer.
func (s sum) ExplainComposite(constituents []*search.DocumentMatch) *search.Explanation {
	return search.NewExplanation(s.ScoreComposite(constituents), "sum")
}
