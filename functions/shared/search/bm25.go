package search

import (
	"math"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

const (
	saturation   = 1.2  // k1 of BM25
	lengthEffect = 0.75 // b of BM25
	repetition   = 8    // k3 of BM25

	allWords   = 2.0 // times the score of a document that holds every word
	nearWeight = 0.5 // of a phrase beside that of its words
)

// fieldWeights say what a match in a field is worth beside one in the body.
var fieldWeights = [postings.Fields]float64{
	segment.Title: 2, segment.Headings: 1.25, segment.Address: 0.75, segment.Body: 1,
}

// totals are the statistics of a corpus, its dead documents included.
type totals struct {
	documents float64
	norms     [postings.Fields][256]float64 // k1·(1−b+b·L/average) by length code
}

func newTotals(parts []Part) *totals {
	t := &totals{}
	var sum segment.Totals
	for _, p := range parts {
		of := p.Segment.Totals()
		sum.Documents += of.Documents
		for f := range of.Fields {
			sum.Fields[f].Documents += of.Fields[f].Documents
			sum.Fields[f].Length += of.Fields[f].Length
		}
	}
	t.documents = float64(sum.Documents)
	for f := range t.norms {
		average := float64(sum.Fields[f].Length) / math.Max(1, float64(sum.Fields[f].Documents))
		for code := range t.norms[f] {
			relative := float64(postings.LengthOf(uint8(code))) / math.Max(1, average)
			t.norms[f][code] = saturation * (1 - lengthEffect + lengthEffect*relative)
		}
	}
	return t
}

// idf is the inverse document frequency of BM25, never negative (Robertson and
// Zaragoza, The Probabilistic Relevance Framework, 2009, 3.1, with one added
// under the logarithm).
func (t *totals) idf(documents uint64) float64 {
	n := math.Min(float64(documents), t.documents)
	return math.Log(1 + (t.documents-n+0.5)/(n+0.5))
}

// repeated returns what a word is worth that stands so often in a query, beside
// one that stands there once.
func repeated(times int) float64 {
	n := float64(times)
	return (repetition + 1) * n / (repetition + n)
}

// bm25 scores what occurs so often in the fields of a document, if it is worth
// weight.
func (t *totals) bm25(weight float64, freq *[postings.Fields]uint32, length *[postings.Fields]uint8) float64 {
	score := 0.0
	for f, n := range freq {
		if n > 0 {
			score += t.field(f, weight, n, length[f])
		}
	}
	return score
}

func (t *totals) field(f int, weight float64, freq uint32, length uint8) float64 {
	n := float64(freq)
	return fieldWeights[f] * weight * (saturation + 1) * n / (n + t.norms[f][length])
}

// bound returns a score that no document of the impacts exceeds.
func (t *totals) bound(weight float64, impacts []postings.Impact) float64 {
	var most [postings.Fields]float64
	for _, i := range impacts {
		most[i.Field] = max(most[i.Field], t.field(int(i.Field), weight, i.Freq, i.Length))
	}
	return (most[0] + most[1] + most[2] + most[3]) * (1 + 1e-9) // sums are rounded in another order
}

// most returns the score that nothing of weight 1 exceeds.
func (t *totals) most() (most float64) {
	for _, w := range fieldWeights {
		most += w * (saturation + 1)
	}
	return most
}
