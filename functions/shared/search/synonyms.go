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
	// maxAlternatives is the greatest number of those that are several words. Each of them costs the
	// reading of its positions.
	maxAlternatives = 16
)

// Synonyms are words that a query also finds by others of their set (see the package, Synonyms). It is safe
// for concurrent use.
type Synonyms struct {
	sets []SynonymSet

	mu      sync.Mutex // protects byRules
	byRules map[string]*synonymTable
}

// SynonymSet is a set of words. A word may be several words that stand together.
type SynonymSet struct {
	Words []string // each finds the others, and those of Also
	Also  []string // they find none of the others
}

// NewSynonyms returns the synonyms of the sets.
func NewSynonyms(sets []SynonymSet) *Synonyms {
	return &Synonyms{sets: sets, byRules: make(map[string]*synonymTable)}
}

// synonymTable has the words of all sets as the rules of one language analyse them.
type synonymTable struct {
	begin map[string][]synonymEntry // entries by their first term, those of more terms first
}

// synonymEntry is a word of a set.
type synonymEntry struct {
	set, word int      // index of the set, and of the word in its Words
	terms     []string // terms of the word's parts
}

// table returns the table for the rules with a code (see analysis.Rules), which it makes once.
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

// addSynonyms gives the plain words of the query (without quotes and signs) the variants of their
// synonyms. Of words that follow each other, the longest synonym counts: in high availability cluster, the
// synonyms of high availability, and not those of availability.
func (p *plan) addSynonyms(of *Synonyms) {
	if of == nil || len(p.plain) == 0 {
		return
	}
	var words []*queryWord
	for _, together := range p.plain {
		for _, w := range together.words {
			if together.open && w.expands() {
				w = nil // it stands for other words already
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

// longest returns the entries of most terms with which the words begin, by the rules of any language.
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

// term returns the term that the rules with the number r make of the word; "" if there is none, or if the
// word is nil.
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

// addSet gives words of the query, which are the word with the number self of a set, the variants of all
// others of the set.
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
		} else if len(single) > 1 && !p.addAlternative(text, analysed, words) {
			continue
		}
		p.synonymsUsed++
		told = append(told, text)
	}
	for _, w := range words {
		w.text = strings.Join(append([]string{w.text}, told...), " OR ")
	}
}

// addAlternative gives words of the query a variant for a synonym of several words: documents match if they
// have these next to each other. A synonym with a joined form, such as e-mail, also matches by this
// form. It returns false if the query has too many such synonyms already, or is searched for images or by
// translation, which have no phrases.
func (p *plan) addAlternative(text string, analysed []analysis.Word, words []*queryWord) bool {
	if p.images || p.wordwise {
		return false
	}
	name := fmt.Sprintf("%q", text) // no term of the index has quotes
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
			w.variants = append(w.variants, variant{term: name, worth: 1, rules: 1<<len(p.rules) - 1, alternative: of})
		}
		for i := range analysed {
			if a := &analysed[i]; a.Parts == len(of.words) {
				p.addAll(w, a, 1)
			}
		}
	}
	return true
}

// synonymPhrase is a synonym of several words. It is searched like a term: its posting list is made of the
// positions of its words, when these have been read.
type synonymPhrase struct {
	*queryPhrase
	name string // text of the synonym in quotes; it stands in place of a term
}
