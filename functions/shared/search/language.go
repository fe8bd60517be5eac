package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// corpusLanguage is a language of an index, with the statistics of its documents,
// deleted ones included.
type corpusLanguage struct {
	name string
	// number of documents in the language. Segments store only how many documents have a field, such as a
	// title or a body. The greatest of these numbers is taken.
	documents float64
	average   [postings.Fields]float64 // for each field: average length in the documents that have it
}

// newLanguages returns the languages of the segments, those with the most documents
// first.
func newLanguages(parts []Part) []corpusLanguage {
	sums := map[string]*segment.Totals{}
	for _, p := range parts {
		if p.Unvisited {
			continue
		}
		for name, of := range p.Segment.LanguageTotals() {
			sum := sums[name]
			if sum == nil {
				sum = new(segment.Totals)
				sums[name] = sum
			}
			for f := range of.Fields {
				sum.Fields[f].Documents += of.Fields[f].Documents
				sum.Fields[f].Length += of.Fields[f].Length
			}
		}
	}
	all := make([]corpusLanguage, 0, len(sums))
	for name, sum := range sums {
		l := corpusLanguage{name: name}
		for f, of := range sum.Fields {
			l.documents = max(l.documents, float64(of.Documents))
			l.average[f] = max(1, float64(of.Length)/max(1, float64(of.Documents)))
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b corpusLanguage) int {
		return cmp.Or(cmp.Compare(b.documents, a.documents), cmp.Compare(a.name, b.name))
	})
	return all
}

// queryLanguage is a language in which a query is possibly written.
type queryLanguage struct {
	*corpusLanguage
	rules     int     // rules by which documents in this language were analysed, as an index in plan.rules
	share     float64 // probability that the query is in this language
	stopWords analysis.StopWords
}

// setLanguages sets the languages in which a query is possibly written, with their rules and
// analyzers: all languages of the corpus that the filter accepts. text has all words of the query.
func (p *plan) setLanguages(text string, corpus []corpusLanguage) {
	for i := range corpus {
		l := &corpus[i]
		if !p.filter.acceptsLanguage(l.name) {
			continue
		}
		code := analysis.Rules(l.name, text)
		rules := slices.Index(p.rules, code)
		if rules < 0 {
			rules = len(p.rules)
			p.rules = append(p.rules, code)
		}
		p.languages = append(p.languages, queryLanguage{l, rules, 0, analysis.StopWordsOf(l.name)})
	}
	if len(p.rules) == 0 {
		p.rules = []string{""}
	}
	for _, code := range p.rules {
		p.analyzers = append(p.analyzers, analysis.For(code))
	}
}

// documentsIn returns the number of documents in language i of the plan that have the word w in their
// texts. If no text in any language has w, it counts the documents with w in their anchors. Some
// segments do not store the number of documents by language. For these, documentsIn estimates it by
// the share of the language in all documents. The last argument is the number of all documents.
func (p *plan) documentsIn(i int, w *queryWord, t *Totals, all float64) float64 {
	l := &p.languages[i]
	sum, totals := 0.0, t.having(w)
	for _, v := range w.variants {
		if v.rules&(1<<l.rules) == 0 {
			continue
		}
		total := &totals[v.number]
		if len(total.In) > 0 {
			sum += float64(total.In[i]) * v.share()
		}
		if total.Unknown > 0 && all > 0 { // estimate by the language's share of all documents
			sum += float64(total.Unknown) * l.documents / all * v.share()
		}
	}
	return min(sum, l.documents)
}

// mixed smooths the probability of a word in a language, for naive Bayes. The probability is
//
//	mixed · frequency in all languages together + (1 − mixed) · frequency in this language
//
// So a word that does not occur in a language still has a probability above zero there, and does not
// exclude the language.
const mixed = 0.1

// setShares sets, for each word, how many documents of each language have it. From these numbers it
// computes by naive Bayes how probable each language of the query is. The prior of a language is its
// share of all documents.
func (p *plan) setShares(t *Totals) {
	all := 0.0
	for i := range p.languages {
		all += p.languages[i].documents
	}
	logs := make([]float64, len(p.languages))
	for i := range p.languages {
		logs[i] = math.Log(max(1, p.languages[i].documents))
	}
	for _, w := range p.words {
		w.in = make([]float64, len(p.languages))
		sum := 0.0
		for i := range p.languages {
			w.in[i] = p.documentsIn(i, w, t, all)
			sum += w.in[i]
		}
		if sum == 0 {
			continue
		}
		for i := range p.languages {
			logs[i] += math.Log((1-mixed)*w.in[i]/max(1, p.languages[i].documents) + mixed*sum/all)
		}
	}
	if len(logs) == 0 {
		return
	}
	greatest, sum := slices.Max(logs), 0.0
	for i := range logs {
		logs[i] = math.Exp(logs[i] - greatest)
		sum += logs[i]
	}
	for i := range logs {
		p.languages[i].share = logs[i] / sum
	}
}

// leastWorth is the least factor for the score of a term. A word of a query has several terms, since
// each language has its own rules of analysis. A term gets a lower factor if only improbable languages
// of the query give it:
//
//	leastWorth + (1 − leastWorth) · p/q
//
// Here p is the probability that the query is in a language whose rules give the term, and q is the
// highest p of all terms of the word.
const leastWorth = 0.6

// weighVariants lowers the worth (the factor of the score) of those variants of a word that come
// only from rules of languages in which the query is probably not written.
func (p *plan) weighVariants(w *queryWord) {
	shares := make([]float64, len(p.rules))
	for i := range p.languages {
		shares[p.languages[i].rules] += p.languages[i].share
	}
	share := func(v *variant) (sum float64) {
		for r, of := range shares {
			if v.rules&(1<<r) != 0 {
				sum += of
			}
		}
		return sum
	}
	best := 0.0
	for i := range w.variants {
		if w.variants[i].alternative == nil { // these come from all rules
			best = max(best, share(&w.variants[i]))
		}
	}
	for i := range w.variants {
		if v := &w.variants[i]; best > 0 && v.alternative == nil {
			v.worth *= leastWorth + (1-leastWorth)*share(v)/best
		}
	}
}

// likeliest returns the most probable language of the query, or nil if there is none.
func (p *plan) likeliest() (best *queryLanguage) {
	for i := range p.languages {
		if l := &p.languages[i]; best == nil || l.share > best.share {
			best = l
		}
	}
	return best
}
