package search

import (
	"cmp"
	"fmt"
	"slices"
)

// scoredWords is the greatest number of words of a query that count in scores. Of a longer
// query they are the rarest.
const scoredWords = 64

// weigh sets the weights of words and phrases, and removes the words that no document has. It
// returns false if no document can match.
func (p *plan) weigh(t *Totals) bool {
	p.countDocuments(t)
	p.setShares(t)
	p.known = make(map[string]float64, len(p.words))
	for _, w := range p.words {
		if w.surface != "" && !w.expands() {
			p.known[w.surface] = 0
			for _, n := range w.in {
				p.known[w.surface] += n
			}
		}
	}
	for _, w := range p.words {
		if w.documents == 0 {
			continue
		}
		w.idf = 0
		for i := range p.languages {
			l := &p.languages[i]
			w.idf += l.share * idf(w.in[i], l.documents)
		}
		w.stop = p.stopWord(w)
		if p.long {
			w.idf = sharpened(w.idf) * p.lowered(w)
		}
		w.weight = w.idf * p.weights.repeated(w.times)
		p.weighVariants(w)
	}
	p.setAbsent(t)
	p.reduce()
	unknown := func(w *queryWord) bool { return w.documents == 0 }
	if slices.ContainsFunc(p.words, func(w *queryWord) bool { return w.required && unknown(w) }) {
		return false
	}
	p.words = slices.DeleteFunc(p.words, unknown)
	p.not = slices.DeleteFunc(p.not, unknown)
	p.never = slices.DeleteFunc(p.never, func(ph *queryPhrase) bool { return slices.ContainsFunc(ph.words, unknown) })
	p.near = slices.DeleteFunc(p.near, func(ph *queryPhrase) bool { return slices.ContainsFunc(ph.words, unknown) })
	p.eachLeaf(func(leaf *demand) { // of words that are not searched any more
		if leaf.word != nil {
			leaf.word.place = -1
		}
	})
	for _, ph := range p.grouped {
		for _, w := range ph.words {
			w.place = -1
		}
	}
	spares := p.long && !p.hasOnlyStopWords()
	for i, w := range p.words {
		w.place, w.spare = i, spares && w.isStopWord()
	}
	for i, w := range p.tested {
		w.place = i
	}
	for _, ph := range p.must {
		ph.weight = p.weights.Quoted * ph.rarity()
	}
	for _, ph := range p.grouped {
		if !ph.excluded && !slices.ContainsFunc(ph.words, unknown) {
			ph.weight = p.weights.Quoted * ph.rarity()
		}
	}
	p.weighNear()
	p.addPassage()
	return len(p.words) > 0 || p.lists
}

// setAbsent sets p.absent. A word that only the names of a site have (see package comment, Scores) is not absent.
func (p *plan) setAbsent(t *Totals) {
	p.absent = nil
	present := false
	for _, w := range p.words {
		switch {
		case w.documents > 0 || t.inNames(w):
			present = true
		case w.surface != "" && !w.joined && !w.expands():
			p.absent = append(p.absent, w)
		}
	}
	if !present {
		p.absent = nil
	}
}

// reduce removes words from a plan with more than scoredWords words. It keeps the scoredWords
// rarest words, all required words, and all words of required phrases.
func (p *plan) reduce() {
	if len(p.words) <= scoredWords {
		return
	}
	stays := make(map[*queryWord]bool)
	for _, ph := range slices.Concat(p.must, p.grouped) {
		for _, w := range ph.words {
			stays[w] = true
		}
	}
	p.eachLeaf(func(leaf *demand) { stays[leaf.word] = true })
	rarest := slices.SortedStableFunc(slices.Values(p.words), func(a, b *queryWord) int { return cmp.Compare(b.idf, a.idf) })
	for _, w := range rarest[:scoredWords] {
		stays[w] = true
	}
	all := len(p.words)
	dropped := func(w *queryWord) bool { return !stays[w] && !w.required }
	p.near = slices.DeleteFunc(p.near, func(ph *queryPhrase) bool { return slices.ContainsFunc(ph.words, dropped) })
	p.words = slices.DeleteFunc(p.words, dropped)
	p.notes = append(p.notes, fmt.Sprintf("Of the query's %d words, the %d rarest were used.", all, len(p.words)))
}
