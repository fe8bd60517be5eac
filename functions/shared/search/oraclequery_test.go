package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// oracleWord holds the terms by which a word is searched. The keys are the terms themselves.
type oracleWord map[string]oracleTerm

type oracleTerm struct {
	worth float64
	rules string // codes of the rules of analysis that make the term, each in brackets
}

// add adds the terms that rules of analysis, such as stemming, make of a word. The parameter rules has the
// codes of these rules, and worth is the factor by which the terms count in scores.
func (w oracleWord) add(a analysis.Word, rules []string, worth float64) {
	for i, code := range rules {
		term := a.Terms[a.Of[i]]
		t := w[term]
		t.worth = max(t.worth, worth)
		if code = "[" + code + "]"; !strings.Contains(t.rules, code) {
			t.rules += code
		}
		w[term] = t
	}
}

// oracleQuery holds the languages of a query; the language with the most documents comes first.
type oracleQuery struct {
	*oracle
	languages []*oracleLanguage
	rules     []string  // code of the rules of analysis of each language
	codes     []string  // the codes in the field rules, each once
	shares    []float64 // probability of each language
	average   [postings.Fields]float64
	length    float64 // number of words in the query
}

func (q *oracleQuery) long() bool { return q.length >= 5 }

// queryIn returns a query that may be written in any language of the oracle's documents, except the
// languages that the filter f excludes.
func (o *oracle) queryIn(text string, f *filter) *oracleQuery {
	q := &oracleQuery{oracle: o}
	for _, name := range slices.SortedFunc(maps.Keys(o.languages), func(a, b string) int {
		return cmp.Or(cmp.Compare(o.languages[b].documents, o.languages[a].documents), cmp.Compare(a, b))
	}) {
		if f.acceptsLanguage(name) {
			code := analysis.Rules(name, text)
			q.languages, q.rules = append(q.languages, o.languages[name]), append(q.rules, code)
			if !slices.Contains(q.codes, code) {
				q.codes = append(q.codes, code)
			}
		}
	}
	if len(q.codes) == 0 {
		q.codes = []string{""}
	}
	return q
}

func (q *oracleQuery) analyzers() (all []*analysis.Analyzer) {
	for _, code := range q.codes {
		all = append(all, analysis.For(code))
	}
	return all
}

// count returns the number of documents in language i that have a word.
func (q *oracleQuery) count(word oracleWord, i int) (n float64) {
	for term, t := range word {
		if strings.Contains(t.rules, "["+q.rules[i]+"]") {
			if q.inTexts(word) {
				n += q.languages[i].terms[term]
			} else {
				n += q.languages[i].anchored[term]
			}
		}
	}
	return min(n, q.languages[i].documents)
}

// inTexts reports whether the text of any document holds a word.
func (q *oracleQuery) inTexts(word oracleWord) bool {
	for term := range word {
		if q.terms[term] > 0 {
			return true
		}
	}
	return false
}

// judge computes the probabilities of the languages from the words of the query.
func (q *oracleQuery) judge(words []oracleWord) {
	all, sum := 0.0, 0.0
	for _, l := range q.languages {
		all += l.documents
	}
	q.shares = make([]float64, len(q.languages))
	for i, l := range q.languages {
		q.shares[i] = l.documents / all
		for _, word := range words {
			having := 0.0
			for other := range q.languages {
				having += q.count(word, other)
			}
			if having > 0 {
				q.shares[i] *= (0.9*q.count(word, i)/l.documents + 0.1*having/all) / (having / all) // so that many do not become 0
			}
		}
		sum += q.shares[i]
	}
	for i, l := range q.languages {
		q.shares[i] /= sum
		for f, n := range l.mean {
			q.average[f] += q.shares[i] * max(1, n)
		}
	}
}

// weighed returns a copy of a word in which unlikely terms have a lower worth. A term is made of the word
// by the rules of some languages. It is unlikely if the query is probably not written in these languages.
func (q *oracleQuery) weighed(word oracleWord) oracleWord {
	share := func(t oracleTerm) (sum float64) {
		for i, of := range q.shares {
			if strings.Contains(t.rules, "["+q.rules[i]+"]") {
				sum += of
			}
		}
		return sum
	}
	best := 0.0
	for _, t := range word {
		best = max(best, share(t))
	}
	if best == 0 {
		return word
	}
	weighed := oracleWord{}
	for term, t := range word {
		t.worth *= 0.6 + 0.4*share(t)/best
		weighed[term] = t
	}
	return weighed
}

type oraclePhrase struct {
	words []oracleWord
	at    []int
	slop  int
}

// words returns the words of a clause.
func (q *oracleQuery) words(c clause) oraclePhrase {
	phrase := oraclePhrase{slop: c.slop}
	analysed := analysis.Query(c.text, q.analyzers())
	analysed = slices.DeleteFunc(analysed, func(w analysis.Word) bool { return w.Parts > 0 }) // the tests have none
	for i, a := range analysed {
		word := oracleWord{}
		word.add(a, q.codes, 1)
		if a.Lone { // of terms; the tests have fewer of them than maxBegun, and segments of an old version
			for term := range q.terms {
				if strings.HasPrefix(term, a.Terms[0]) {
					word[term] = oracleTerm{1, "[" + strings.Join(q.codes, "][") + "]"}
				}
			}
		}
		if i == len(analysed)-1 && a.Text != "" && (c.prefix || c.edits > 0) {
			edits := map[string]int{}
			for surface := range q.surfaces {
				if n := editDistance(a.Text, surface); c.edits > 0 && n <= c.edits {
					edits[surface] = n
				} else if c.prefix && strings.HasPrefix(surface, a.Text) {
					edits[surface] = 0
				}
			}
			best := slices.SortedFunc(maps.Keys(edits), func(a, b string) int {
				return cmp.Or(cmp.Compare(edits[a], edits[b]), cmp.Compare(q.surfaces[b], q.surfaces[a]), cmp.Compare(a, b))
			})
			for _, surface := range best[:min(len(best), MaxExpansions)] {
				word.add(analysis.Query(surface, q.analyzers())[0], q.codes, 1/float64(1+edits[surface]))
			}
		}
		phrase.words = append(phrase.words, word)
		phrase.at = append(phrase.at, a.Position-analysed[0].Position)
	}
	return phrase
}

// editDistance returns the number of edits between two words: letters inserted, left out or replaced,
// and neighbouring letters swapped.
func editDistance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := d[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// weight returns the weight of a word that stands the given number of times in the query.
func (q *oracleQuery) weight(word oracleWord, times float64) float64 {
	return q.idf(word) * 9 * times / (8 + times)
}

// idf returns the inverse document frequency of a word, 0 if no document holds it.
func (q *oracleQuery) idf(word oracleWord) (sum float64) {
	known := false
	for term := range word {
		known = known || q.terms[term] > 0 || q.anchored[term] > 0
	}
	if !known {
		return 0
	}
	for i, l := range q.languages {
		n := q.count(word, i)
		sum += q.shares[i] * math.Log(1+(l.documents-n+0.5)/(n+0.5))
	}
	if q.long() {
		return sum * sum / (sum + 1)
	}
	return sum
}

// bm25f returns the score of a word in a document. The function freq returns the frequency of the
// word in a field of the document.
func (q *oracleQuery) bm25f(d *oracleDoc, weight float64, freq func(field int) int) float64 {
	sum := 0.0
	for f := range postings.Fields {
		if n := float64(freq(f)); n > 0 {
			b := []float64{0.5, 0.5, 0.5, 0.6}[f]
			relative := d.length[f] / max(1, q.average[f])
			if !q.long() {
				relative = min(3, relative)
			}
			if f == segment.Body {
				relative = max(0.25, relative)
			}
			if n > 4 && n*[]float64{2, 2, 0, 8}[f] > d.length[f] {
				n = 1 // the field is crammed with the word
			}
			sum += []float64{3, 2, 0.25, 1}[f] * n / (1 - b + b*relative)
		}
	}
	return weight * 2.5 * sum / (1.5 + sum)
}

func (q *oracleQuery) word(d *oracleDoc, word oracleWord, weight float64) (score float64) {
	for term, t := range word {
		score = max(score, q.bm25f(d, weight*t.worth*q.foreign(d, t), func(f int) int { return len(d.positions[f][term]) }))
	}
	return score + q.anchors(d, word, weight)
}

// foreign returns a factor for the score that a word gets by one of its terms in a document. It is 1 if
// the rules of the document's language give this term for the word, else 0.3.
func (q *oracleQuery) foreign(d *oracleDoc, t oracleTerm) float64 {
	i := slices.Index(q.languages, q.oracle.languages[d.Lang])
	if i < 0 || strings.Contains(t.rules, "["+q.rules[i]+"]") {
		return 1
	}
	return 0.3
}

// anchors returns the score of a word in the anchors of a document.
func (q *oracleQuery) anchors(d *oracleDoc, word oracleWord, weight float64) (score float64) {
	if d.anchors == nil {
		return 0
	}
	for term, t := range word {
		sum := float64(len(d.anchors.positions[1][term]))
		score = max(score, 0.5*weight*t.worth*q.foreign(d, t)*2.5*sum/(1.5+sum))
	}
	return score
}

// occurrences returns how often the phrase occurs in field f of the document: at how many positions of its
// first word the other words follow at the same distances as in the phrase. If the phrase has a slop, the
// distances may differ from these, in total by at most the slop.
func (p *oraclePhrase) occurrences(d *oracleDoc, f int) (n int) {
	positions := func(i int) map[int]bool {
		found := map[int]bool{}
		for term := range p.words[i] {
			for _, position := range d.positions[f][term] {
				found[position] = true
			}
		}
		return found
	}
	at := make([]map[int]bool, len(p.words))
	for i := range at {
		if at[i] = positions(i); len(at[i]) == 0 {
			return 0
		}
	}
	var reaches func(i, from, slop int) bool
	reaches = func(i, from, slop int) bool {
		if i == len(p.words) {
			return true
		}
		for position := range at[i] {
			off := position - from - (p.at[i] - p.at[i-1])
			if off = max(off, -off); off <= slop && (position != from || p.slop == 0) && reaches(i+1, position, slop-off) {
				return true
			}
		}
		return false
	}
	for start := range at[0] {
		if reaches(1, start, p.slop) {
			n++
		}
	}
	return n
}
