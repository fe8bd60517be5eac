package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// A translated query has, for each word, the terms of the dictionary as variants: a structured
// query, in which the translations of a word are one concept, by their probabilities (Darwish and
// Oard, Probabilistic Structured Query Methods, 2003).
//
//	documents with the word    sum of those with each term, times the probability
//	score of the word          the greatest of the scores of the terms, each times its probability
//	                           ÷ √(probability of the likeliest term)
//
// The paper adds the frequencies of the terms, and divides by nothing. Both are worse on held-out
// pages (see tests/bench), where dictionaries are small. Nor are words looked for near each other,
// since other languages have other orders.

// translator translates queries by its dictionary, from the dictionary's language From into its
// language To.
type translator struct {
	*dictionary.Dictionary
}

// setAcross sets the languages of a plan, as setLanguages does. But it also obeys three fields of the
// query, which only a search across languages sets:
//
//	unlimited   if true, the query's filters by language are ignored
//	without     languages whose documents do not match
//	into        a translator. Only documents in the language into which it translates match. The query's
//	            words are also analysed by the rules of the language from which it translates.
func (p *plan) setAcross(q *Query, text string, corpus []corpusLanguage) {
	if q.unlimited {
		delete(p.filter.any, Lang)
	}
	if len(q.without) > 0 {
		p.filter.none[Lang] = slices.Concat(p.filter.none[Lang], q.without)
	}
	if q.into == nil {
		p.setLanguages(text, corpus)
		return
	}
	p.filter.any[Lang] = []string{q.into.To}
	p.setLanguages(text, corpus)
	p.source = len(p.rules)
	code := analysis.Rules(q.into.From, text)
	p.rules, p.analyzers = append(p.rules, code), append(p.analyzers, analysis.For(code))
}

// translate replaces the search terms of the plan's words by the terms of their translations. A word
// that is not in the dictionary, such as a name or a number, is searched as it stands, and so are
// prefixes and words with edits.
func (p *plan) translate(t *translator) {
	p.plain = nil // no bonus for words near each other
	p.translated = Translated{From: t.From, To: t.To}
	p.each(func(w *queryWord) {
		told := TranslatedWord{Word: w.text}
		if !w.expands() {
			told.As = w.translate(t, p)
		}
		if !w.joined && !slices.ContainsFunc(p.translated.Words, func(other TranslatedWord) bool { return other.Word == told.Word }) {
			p.translated.Words = append(p.translated.Words, told)
		}
	})
	unlikely := func(v variant) bool { return v.probability > 0 && v.probability < excludes }
	for _, w := range p.not {
		w.variants = slices.DeleteFunc(w.variants, unlikely)
	}
}

// excludes is a limit for translations of an excluded word of the query. Documents with a translation are
// excluded only if it translates the word with at least this probability.
const excludes = 0.25

// translate replaces the variants of a word (the terms that are searched for it) by translations, and
// returns the translations. For this it looks up the terms that the rules of the query's language make of
// the word. If the dictionary has none of them, translate returns nil, and the word is searched
// untranslated, by the terms that the rules of the other languages make of it.
func (w *queryWord) translate(t *translator, p *plan) (as []dictionary.Translation) {
	own := w.variants
	w.variants = nil
	for _, v := range own {
		if v.rules&(1<<p.source) == 0 || analysis.IsOutside(v.term) {
			continue
		}
		found := t.Lookup(v.term)
		for _, to := range found {
			if slices.ContainsFunc(as, func(known dictionary.Translation) bool { return known.Term == to.Term }) {
				continue
			}
			as = append(as, to)
			share := v.worth * to.Probability / math.Sqrt(found[0].Probability)
			w.add(to.Term, share, share*p.weights.Outside, 1<<p.source-1)
			for n := len(w.variants) - 2; n < len(w.variants); n++ { // the term, and its form outside of main parts
				w.variants[n].probability = share
			}
		}
	}
	if len(as) > 0 {
		w.text = fmt.Sprintf("%s → %s", w.text, termsOf(as))
		return as
	}
	for _, v := range own {
		if v.rules &^= 1 << p.source; v.rules != 0 {
			w.variants = append(w.variants, v)
		}
	}
	return nil
}

// termsOf formats translations as text, such as "haus 0.8, gebäud 0.2".
func termsOf(all []dictionary.Translation) string {
	var texts []string
	for _, t := range all {
		texts = append(texts, fmt.Sprintf("%s %.2g", t.Term, t.Probability))
	}
	return strings.Join(texts, ", ")
}

// share returns how much a document with the variant's term adds to the number of documents with the word.
// For a translation it is the probability that the term translates the word, else 1. For example, at a
// probability of 0.3, 100 documents with the term count as 30 documents with the word.
func (v *variant) share() float64 {
	if v.probability == 0 {
		return 1
	}
	return v.probability
}
