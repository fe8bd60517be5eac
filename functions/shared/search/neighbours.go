package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

const (
	// mostNeighbours is the greatest number of neighbouring words that are joined to one word.
	mostNeighbours = 4
	// maxNeighbours is the greatest number of joined words for one query. Each of them costs the look-up of a term
	// in each segment.
	maxNeighbours = 8
)

// joinNeighbours lets neighbouring words of the query be found as one word, too. For example, the query http
// client also finds pages that have only HttpClient, http_client or http-client: their term httpclient becomes a
// further term of the word http, and of the word client. So such a page has both words, with a lower score
// (Weights.Joined).
//
// Pairs of neighbours are joined first, then groups of three and of four, until there are maxNeighbours joined
// words. If a joined word is a stop word, it is left out: the words in and to do not find into.
func (p *plan) joinNeighbours() {
	var runs [][]*queryWord // runs of plain words that follow each other
	var run []*queryWord
	conditioned := make(map[*queryWord]bool) // words that documents must have as they stand
	p.eachLeaf(func(leaf *demand) { conditioned[leaf.word] = true })
	for _, together := range p.plain {
		if w := together.words[0]; len(together.words) == 1 && w.joins() && !w.required && !conditioned[w] {
			run = append(run, w)
			continue
		}
		runs, run = append(runs, run), nil
	}
	runs = append(runs, run)
	left := maxNeighbours
	for size := 2; size <= mostNeighbours; size++ {
		for _, run := range runs {
			for i := 0; i+size <= len(run) && left > 0; i++ {
				p.addNeighbours(run[i : i+size])
				left--
			}
		}
	}
}

// joins reports whether the word can be joined with its neighbours. It must consist only of digits, and of letters
// of a script that has upper and lower case; and it must be neither a prefix nor a word with edits.
func (w *queryWord) joins() bool {
	return w.surface != "" && !w.expands() && !strings.ContainsFunc(w.surface, func(r rune) bool {
		return !unicode.IsLower(r) && !unicode.IsUpper(r) && !unicode.IsDigit(r)
	})
}

// searched returns the terms by which documents with the word are found.
func (w *queryWord) searched() []variant {
	if len(w.neighbours) == 0 {
		return w.variants
	}
	return slices.Concat(w.variants, w.neighbours)
}

// addNeighbours adds the terms of the joined word, such as httpclient, to each of the neighbouring words that it
// consists of, such as http and client.
func (p *plan) addNeighbours(words []*queryWord) {
	text := ""
	for _, w := range words {
		text += w.surface
	}
	analysed := analysis.Query(text, p.analyzers)
	if len(analysed) != 1 || !strings.ContainsFunc(text, unicode.IsLetter) {
		return // too long, or only digits
	}
	joined := &analysed[0]
	if slices.ContainsFunc(p.languages, func(l queryLanguage) bool { return l.stopWords.Has(text) }) {
		return
	}
	for _, w := range words {
		for n, term := range joined.Terms {
			if !w.hasTerm(term) {
				w.neighbours = append(w.neighbours, variant{term: term, named: -1, defined: -1, worth: p.weights.Joined, rules: rulesOf(joined, n)})
			}
		}
	}
}

// hasTerm reports whether documents with the word are found by a term.
func (w *queryWord) hasTerm(term string) bool {
	is := func(v variant) bool { return v.term == term }
	return slices.ContainsFunc(w.variants, is) || slices.ContainsFunc(w.neighbours, is)
}
