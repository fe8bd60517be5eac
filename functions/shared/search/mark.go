package search

import (
	"math"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// marker finds the words of a query in texts.
type marker struct {
	memory  *Memory
	words   map[string]meant // by term
	begins  beginnings       // of the words that they may be
	weights []float64        // of the query's words
	all     float64          // their sum

	vocabulary *vocabulary
	english    bool // the text is
}

// meant is a word of the query.
type meant struct {
	word int
	half bool // of the pair only the first character
}

// span is a match in a text, in bytes.
type span struct{ start, end, word int }

// newMarker returns a marker that has to be ended.
func newMarker(p *plan, memory *Memory) *marker {
	m := &marker{memory: memory, vocabulary: memory.lend(), words: make(map[string]meant, len(p.words))}
	for n, w := range p.words {
		m.weights = append(m.weights, w.weight)
		m.all += w.weight
		for _, v := range w.variants {
			m.words[v.term] = meant{n, w.begins}
			m.begins.add(v.term)
		}
	}
	return m
}

// hit returns a document with its matches marked as its language has it.
func (m *marker) hit(d *segment.Document) Hit {
	m.vocabulary.read(d.Lang)
	m.english = d.Lang == "en"
	h := Hit{Document: *d, MarkedTitle: m.whole(d.Title), Snippet: m.snippet(d.Body)}
	h.Body = ""
	return h
}

// end ends the use of the marker.
func (m *marker) end() { m.memory.giveBack(m.vocabulary) }

// signSize is how far behind a lone letter lies what makes a name of it: C++.
const signSize = 2 + utf8.UTFMax

// each calls yield with every match in a text that begins before end, which
// yield may change. Words that begin as none of the query does are passed over.
func (m *marker) each(text string, end *int, yield func(span)) {
	for from := 0; from < *end; {
		to, bits := wordEnd(text, from)
		if to == from {
			from++
			continue
		}
		if bits >= utf8.RuneSelf || m.may(text[from:to]) {
			m.word(text, from, to, yield)
		}
		from = to
	}
}

// may reports whether a word of ASCII may be of the query.
func (m *marker) may(word string) bool {
	return m.begins.may(word) && (!m.english || m.begins.mayBeEnglish(word))
}

// word calls yield with the matches in the word text[start:end].
func (m *marker) word(text string, start, end int, yield func(span)) {
	if end-start == 1 {
		m.analyse(text, start, end, min(len(text), end+signSize), yield)
		return
	}
	known := m.vocabulary.word(text[start:end])
	if known.parts {
		m.analyse(text, start, end, end, yield)
		return
	}
	w, found := m.words[known.term]
	if !found && known.loose != "" {
		w, found = m.words[known.loose]
	}
	if found {
		yield(span{start, end, w.word})
	}
}

// analyse calls yield with the matches in text[start:end], which is analysed
// with what follows it up to context.
func (m *marker) analyse(text string, start, end, context int, yield func(span)) {
	m.vocabulary.analyzer.Each(text[start:context], func(o analysis.Occurrence) bool {
		if start+o.Start >= end {
			return false
		}
		if w, known := m.words[o.Term]; known {
			s := span{start + o.Start, start + o.End, w.word}
			if w.half {
				s.end = start + o.Half
			}
			yield(s)
		}
		return true
	})
}

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
