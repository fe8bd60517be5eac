package topic

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// Evidence, from 0 to 1, that a feature from the topic's words and phrases gives when it occurs in a
// short text (see topicFeature.mention).
const (
	wordMention = 0.9 // evidence of a single word, and of a phrase of two words
	pairMention = 0.7 // evidence of two neighbouring words of a longer phrase
)

// vocabulary holds the features of a topic.
type vocabulary struct {
	terms    map[string]term
	pairs    map[[2]string]int // index of the feature that is a pair of terms, by the pair
	features []topicFeature
}

// term says in which features of a topic a term occurs.
type term struct {
	feature    int  // index of the feature that is the term alone; -1: none
	head, tail bool // the term is the first, or the second, of a pair that is a feature
}

// topicFeature is a term, or a pair of terms, that is evidence of the topic.
type topicFeature struct {
	mention float64 // evidence that the feature gives if it occurs in a short text, from 0 to 1
	share   float64 // gain of the feature, divided by the sum of all gains; 0 for a feature from words
	density float64 // number of occurrences per word of the samples; 0 for a feature from words
}

func newVocabulary() vocabulary {
	return vocabulary{terms: map[string]term{}, pairs: map[[2]string]int{}}
}

// describe adds the features of a word or phrase (see the package comment).
func (v *vocabulary) describe(analyzer *analysis.Analyzer, phrase string) {
	words := cutWords(analyzer, phrase)
	if len(words) == 1 {
		v.addTerm(words[0].Term, topicFeature{mention: wordMention})
		return
	}
	f := topicFeature{mention: wordMention}
	if len(words) > 2 {
		f.mention = pairMention
	}
	for i := 1; i < len(words); i++ {
		a, b := words[i-1], words[i]
		v.addPair(a.Term, b.Term, f)
		if a.End > b.Start {
			continue // the pairs of a script without spaces overlap
		}
		if joined := cutWords(analyzer, phrase[a.Start:a.End]+phrase[b.Start:b.End]); len(joined) == 1 {
			v.addTerm(joined[0].Term, f)
		}
	}
}

// addTerm adds the feature f, which is the term with this name alone. If the term has a feature
// already, the one whose field mention is greater stays: the one that is stronger evidence in a
// short text.
func (v *vocabulary) addTerm(name string, f topicFeature) {
	t := v.term(name)
	if t.feature < 0 {
		t.feature = len(v.features)
		v.features = append(v.features, f)
		v.terms[name] = t
	}
	if v.features[t.feature].mention < f.mention {
		v.features[t.feature] = f
	}
}

// addPair adds the feature f, which is the term head directly followed by the term tail. If this
// pair has a feature already, the one whose field mention is greater stays: the one that is
// stronger evidence in a short text.
func (v *vocabulary) addPair(head, tail string, f topicFeature) {
	t := v.term(head)
	t.head = true
	v.terms[head] = t
	t = v.term(tail)
	t.tail = true
	v.terms[tail] = t
	at, known := v.pairs[[2]string{head, tail}]
	if !known {
		at = len(v.features)
		v.features = append(v.features, f)
		v.pairs[[2]string{head, tail}] = at
	}
	if v.features[at].mention < f.mention {
		v.features[at] = f
	}
}

// term returns the entry of the term with this name, which says in which features it occurs; an
// entry without features if the term is unknown.
func (v *vocabulary) term(name string) term {
	if t, known := v.terms[name]; known {
		return t
	}
	return term{feature: -1}
}

// cutWords splits a phrase into terms, and returns their occurrences, one for each position. It
// leaves out the second, looser term that a word may have (see analysis.Occurrence), and the term
// of the last character in a sequence without spaces, because that character is in the pair before.
func cutWords(analyzer *analysis.Analyzer, phrase string) []analysis.Occurrence {
	var words []analysis.Occurrence
	analyzer.Each(cut(phrase, MaxShort), func(o analysis.Occurrence) bool {
		if n := len(words); n > 0 {
			switch last := words[n-1]; {
			case last.Position == o.Position:
				return true // a looser form
			case last.End == o.End:
				return true // the last character of a run, which is in a pair
			}
		}
		o.Term = strings.Clone(o.Term)
		words = append(words, o)
		return true
	})
	return words
}
