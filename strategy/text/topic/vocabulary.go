package topic

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// The words and phrases by which a topic is described are made into features. These are the values
// of topicFeature.mention for such features: the evidence of the topic, from 0 to 1, that a feature
// gives when it occurs in a short text.
const (
	wordMention = 0.9 // evidence of the topic if a single word, or a pair of words, that describes it occurs
	pairMention = 0.7 // evidence of the topic if two neighbouring words of a longer phrase that describes it occur
)

// vocabulary holds the features of a topic: the terms and pairs of terms that are evidence of it.
type vocabulary struct {
	terms    map[string]term
	pairs    map[[2]string]int // index of the feature that is a pair of terms, by the pair
	features []topicFeature
}

// term says in which features of a topic a term occurs.
type term struct {
	feature    int  // index, in vocabulary.features, of the feature that consists of only this term; -1: none
	head, tail bool // head: a feature is a pair that begins with this term; tail: one ends with it
}

// topicFeature is a term, or a pair of terms, that is evidence of the topic. Features are learnt
// from sample pages, or made of the words and phrases that describe the topic.
type topicFeature struct {
	mention float64 // evidence that the feature gives if it occurs in a short text, from 0 to 1
	share   float64 // gain of the feature (see doc.go), divided by the sum of all gains; 0 if not learnt from samples
	// number of occurrences in the samples, divided by the number of their words; 0 if not learnt
	// from samples
	density float64
}

func newVocabulary() vocabulary {
	return vocabulary{terms: map[string]term{}, pairs: map[[2]string]int{}}
}

// describe adds features for a word or phrase by which the operator describes the topic. A single
// word is one feature. For a phrase, there are two features for each pair of neighbouring words:
// one for the pair, and one for the pair written as one word.
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

// addTerm adds a feature that consists of one term. If the term has such a feature already, addTerm
// keeps only one of the two features: the one with the greater value in the field mention, which
// gives more evidence when it occurs in a short text.
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

// addPair adds a feature for two terms that directly follow each other, first head and then tail.
// If the pair has a feature already, addPair keeps only one of the two features: the one with the
// greater value in the field mention, which gives more evidence when it occurs in a short text.
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

// term returns the entry for the given term. The entry says in which features the term occurs; for an
// unknown term, in none.
func (v *vocabulary) term(name string) term {
	if t, known := v.terms[name]; known {
		return t
	}
	return term{feature: -1}
}

// cutWords splits a phrase into words, and returns an occurrence of each. In a script without
// spaces, each pair of neighbouring characters counts as a word. cutWords leaves out two kinds of
// occurrences that analysis.Analyzer returns in addition: the second, looser term of a word, and
// the last character of a text without spaces, which is also part of a pair.
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
