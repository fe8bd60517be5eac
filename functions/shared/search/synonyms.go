package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

const (
	// maxSynonyms is the greatest number of synonyms of the words of one query.
	maxSynonyms = 100
	// maxAlternatives is the greatest number of synonyms of one query that have several words. Each of them costs
	// a read of the positions of its words.
	maxAlternatives = 16
)

// Synonyms are sets of words. A query with a word of a set also finds pages with the others of the set (see the
// package, Synonyms). Synonyms are safe for concurrent use.
type Synonyms struct {
	sets []SynonymSet

	mu      sync.Mutex // protects byRules
	byRules map[string]*synonymTable
}

// SynonymSet is a set of words that mean the same. A "word" here may consist of several words, such as high
// availability. Pages match it where these words stand next to each other.
type SynonymSet struct {
	Words []string // a query with one of them also finds the others and those of Also
	Also  []string // a query with one of them finds no others by this set
}

// NewSynonyms returns the synonyms of the sets.
func NewSynonyms(sets []SynonymSet) *Synonyms {
	return &Synonyms{sets: sets, byRules: make(map[string]*synonymTable)}
}

// synonymTable has the words of all sets, analysed by the rules of one language, so that the synonyms of a query's
// word can be looked up.
type synonymTable struct {
	begin map[string][]synonymEntry // entries by their first term, each list ordered by the number of terms, the most first
}

// synonymEntry is a word of a set (SynonymSet.Words) with its terms: several if it consists of several words.
type synonymEntry struct {
	set, word int      // index of the set, and of the word in its Words
	terms     []string // terms of the word's parts
}

// table returns the table for the rules of analysis with the given code (see analysis.Rules). It makes each table
// once and keeps it.
func (s *Synonyms) table(code string) *synonymTable {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.byRules[code]; t != nil {
		return t
	}
	t := &synonymTable{begin: make(map[string][]synonymEntry)}
	analyzers := []*analysis.Analyzer{analysis.For(code)}
	for i, set := range s.sets {
		for n, text := range set.Words {
			var terms []string
			for _, w := range withoutJoined(analysis.Query(text, analyzers)) {
				terms = append(terms, w.Terms[0])
			}
			if len(terms) > 0 {
				t.begin[terms[0]] = append(t.begin[terms[0]], synonymEntry{i, n, terms})
			}
		}
	}
	for _, entries := range t.begin {
		slices.SortStableFunc(entries, func(a, b synonymEntry) int { return cmp.Compare(len(b.terms), len(a.terms)) })
	}
	s.byRules[code] = t
	return t
}

// withoutJoined returns the analysed words without joined ones, such as email for e-mail.
func withoutJoined(analysed []analysis.Word) []analysis.Word {
	return slices.DeleteFunc(slices.Clone(analysed), func(w analysis.Word) bool { return w.Parts > 0 })
}

// addSynonyms adds the terms of synonyms as variants to the plain words of the query (those without quotes and
// signs). If several entries of the sets begin at the same word of the query, the one with the most words counts.
// So for the query high availability cluster, the synonyms of high availability are added, and not those of
// availability.
func (p *plan) addSynonyms(of *Synonyms) {
	if of == nil || len(p.plain) == 0 {
		return
	}
	var words []*queryWord
	for _, together := range p.plain {
		for _, w := range together.words {
			if together.open && w.expands() {
				w = nil // a prefix or a word with edits stands for other words already, and has no synonyms
			}
			words = append(words, w)
		}
	}
	tables := make([]*synonymTable, len(p.rules))
	for r, code := range p.rules {
		tables[r] = of.table(code)
	}
	for i := 0; i < len(words); {
		entries := longest(tables, words[i:])
		if len(entries) == 0 {
			i++
			continue
		}
		size := len(entries[0].terms)
		for _, entry := range entries {
			p.addSet(&of.sets[entry.set], entry.word, words[i:i+size])
		}
		i += size
	}
	if p.cutSynonyms {
		p.notes = append(p.notes, fmt.Sprintf("Only the first %d synonyms of the query's words were searched, and of several words the first %d.", maxSynonyms, maxAlternatives))
	}
}

// longest returns the entries with which the words of the query begin, by the rules of any language, but only
// those with the greatest number of terms. The parameter tables has one table for each language's rules.
func longest(tables []*synonymTable, words []*queryWord) (found []synonymEntry) {
	for r, table := range tables {
		for _, entry := range table.begin[words[0].term(r)] {
			if len(entry.terms) > len(words) || len(found) > 0 && len(entry.terms) < len(found[0].terms) {
				continue
			}
			begins := true
			for n, term := range entry.terms {
				begins = begins && words[n].term(r) == term
			}
			known := slices.ContainsFunc(found, func(other synonymEntry) bool { return other.set == entry.set && other.word == entry.word })
			if !begins || known {
				continue
			}
			if len(found) > 0 && len(entry.terms) > len(found[0].terms) {
				found = found[:0]
			}
			found = append(found, entry)
		}
	}
	return found
}

// term returns the term that plan.rules[r] make of the word; "" if there is none, or if w is nil.
func (w *queryWord) term(r int) string {
	if w == nil {
		return ""
	}
	for _, v := range w.variants {
		if v.rules&(1<<r) != 0 && v.worth == 1 && !analysis.IsOutside(v.term) {
			return v.term
		}
	}
	return ""
}

// addSet adds the synonyms of a set as variants to words of the query. These words are together the element self of
// set.Words, which is not added.
func (p *plan) addSet(set *SynonymSet, self int, words []*queryWord) {
	var told []string
	for n, text := range slices.Concat(set.Words, set.Also) {
		if n == self {
			continue
		}
		if p.synonymsUsed == maxSynonyms {
			p.cutSynonyms = true
			break
		}
		analysed := analysis.Query(text, p.analyzers)
		single := withoutJoined(analysed)
		if len(single) == 1 {
			for _, w := range words {
				p.addAll(w, &single[0], 1)
			}
		} else if len(single) > 1 && !p.addAlternative(text, analysed, words, 1) {
			continue
		}
		p.synonymsUsed++
		told = append(told, text)
	}
	for _, w := range words {
		w.text = strings.Join(append([]string{w.text}, told...), " OR ")
	}
}

// addAlternative adds a synonym of several words, such as high availability, as one variant to each of the given
// words of the query, with the given worth. A document has this variant if it has the words of the synonym next to
// each other. If the synonym has a joined form, such as email for e-mail, this is a further variant.
// addAlternative adds nothing and returns false if the query has maxAlternatives such synonyms already. It does
// the same if the query searches for images or is translated, because such searches read no phrases.
func (p *plan) addAlternative(text string, analysed []analysis.Word, words []*queryWord, worth float64) bool {
	if p.images || p.wordwise {
		return false
	}
	name := fmt.Sprintf("%q", text) // cannot be the same as a term of the index, since these have no quotes
	n := slices.IndexFunc(p.alternatives, func(known *synonymPhrase) bool { return known.name == name })
	if n < 0 {
		if len(p.alternatives) == maxAlternatives {
			p.cutSynonyms = true
			return false
		}
		n = len(p.alternatives)
		ph := &queryPhrase{}
		for i := range analysed {
			if a := &analysed[i]; a.Parts == 0 {
				w := &queryWord{text: text[a.Start:a.End], lone: a.Lone, begins: a.Lone && p.begun, surface: a.Text}
				p.addAll(w, a, 1)
				ph.words, ph.at = append(ph.words, w), append(ph.at, uint32(a.Position-analysed[0].Position))
			}
		}
		p.alternatives = append(p.alternatives, &synonymPhrase{queryPhrase: ph, name: name})
	}
	of := p.alternatives[n]
	for _, w := range words {
		if !slices.ContainsFunc(w.variants, func(v variant) bool { return v.alternative == of }) {
			w.variants = append(w.variants, variant{term: name, worth: worth, rules: 1<<len(p.rules) - 1, alternative: of})
		}
		for i := range analysed {
			if a := &analysed[i]; a.Parts == len(of.words) {
				p.addAll(w, a, 1)
			}
		}
	}
	return true
}

// synonymPhrase is a synonym of several words. It is searched like a term: when the positions of its words have
// been read, a posting list of the documents is made in which the words stand next to each other (see
// gathered.addAlternatives).
type synonymPhrase struct {
	*queryPhrase
	name string // text of the synonym in quotes; it stands in place of a term
}
