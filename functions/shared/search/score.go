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

// cursor walks the documents of a segment that hold a word: any of its
// variants.
type cursor struct {
	lists  []listCursor // one a variant that occurs
	doc    uint32       // the least of the lists'
	common uint64       // postings, all lists together
	most   float64      // bound of the word's score
	bound  float64      // of the word's score, from the window's start
	last   int64        // document for which the bound holds
}

type listCursor struct {
	it     postings.Iterator
	doc    uint32
	weight float64 // idf of the word times the worth of the variant
	bound  float64 // of its scores
	last   int64   // document for which the bound holds
}

// reset lets the cursor walk no list, and keeps its memory.
func (c *cursor) reset() {
	c.lists, c.common, c.doc, c.last, c.most = c.lists[:0], 0, postings.NoMore, -1, 0
}

// add lets the cursor walk a list too, from the beginning.
func (c *cursor) add(l *postings.List, weight float64, t *totals) {
	if len(c.lists) < cap(c.lists) {
		c.lists = c.lists[:len(c.lists)+1]
	} else {
		c.lists = append(c.lists, listCursor{})
	}
	at := &c.lists[len(c.lists)-1]
	at.it.Reset(l)
	at.weight, at.last = weight, -1
	at.doc = at.it.Next()
	c.doc = min(c.doc, at.doc)
	c.most = max(c.most, t.bound(weight, l.Summary().Impacts))
	c.common += uint64(l.Summary().Documents)
}

// advance moves to the first document from doc on, and returns it.
func (c *cursor) advance(doc uint32) uint32 {
	if c.doc < doc {
		c.skip(doc)
	}
	return c.doc
}

func (c *cursor) skip(doc uint32) {
	c.doc = postings.NoMore
	for i := range c.lists {
		l := &c.lists[i]
		if l.doc < doc {
			l.doc = l.it.Advance(doc)
		}
		c.doc = min(c.doc, l.doc)
	}
}

// next moves behind the current document.
func (c *cursor) next() {
	doc := c.doc
	c.doc = postings.NoMore
	for i := range c.lists {
		l := &c.lists[i]
		if l.doc == doc {
			l.doc = l.it.Next()
		}
		c.doc = min(c.doc, l.doc)
	}
}

// window computes a bound of the scores from doc on, and returns the last
// document for which it holds.
func (c *cursor) window(doc uint32, t *totals) (last uint32) {
	if int64(doc) > c.last {
		c.bound, c.last = 0, postings.NoMore
		for i := range c.lists {
			l := &c.lists[i]
			if from := max(doc, l.doc); int64(from) > l.last {
				l.last = int64(l.it.Shallow(from))
				l.bound = t.bound(l.weight, l.it.BlockImpacts())
			}
			c.bound = max(c.bound, l.bound)
			c.last = min(c.last, l.last)
		}
	}
	return uint32(c.last)
}

// score returns the score of the current document: that of its best variant.
func (c *cursor) score(t *totals) (score float64) {
	for i := range c.lists {
		if l := &c.lists[i]; l.doc == c.doc {
			freq, length, _ := l.it.Payload()
			score = max(score, t.bm25(l.weight, freq, length))
		}
	}
	return score
}

// occurrences adds to sum how often the word occurs in the fields of doc,
// which the cursor must have reached, and gives their lengths.
func (c *cursor) occurrences(doc uint32, sum *[postings.Fields]uint32, lengths *[postings.Fields]uint8) {
	for i := range c.lists {
		if l := &c.lists[i]; l.doc == doc {
			freq, length, _ := l.it.Payload()
			for f, n := range freq {
				if n > 0 {
					sum[f] += n
					lengths[f] = length[f]
				}
			}
		}
	}
}

func (c *cursor) err() error {
	for i := range c.lists {
		if err := c.lists[i].it.Err(); err != nil {
			return err
		}
	}
	return nil
}
