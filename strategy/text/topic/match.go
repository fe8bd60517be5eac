package topic

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

const (
	dense = 0.01 // density, in occurrences of a feature per word of a text, at which the feature gives half of its evidence
	// brief is a number that is added to the number of words of a text when the density of a feature
	// is computed, so that one occurrence in a short page does not make a high density.
	brief = 100
)

// matcher counts the features of a topic, terms and pairs of terms, in texts.
type matcher struct {
	analyzer *analysis.Analyzer
	counts   []int // number of occurrences of each feature in the last text
	found    []int // indices of the features whose count is not 0, in the order of the text
}

// mentions returns the evidence, from 0 to 1, that a short text is about the topic. It combines the
// evidence (topicFeature.mention) of all features that occur in the text, however often.
func (m *matcher) mentions(v *vocabulary, text string) float64 {
	m.read(v, text)
	doubt := 1.0
	for _, f := range m.found {
		doubt *= 1 - v.features[f].mention
	}
	return 1 - doubt
}

// density returns the evidence, from 0 to 1, that the text of a page is about the topic. The more
// often a feature occurs per word of the text, the more evidence it gives.
func (m *matcher) density(v *vocabulary, text string) float64 {
	words := float64(m.read(v, text) + brief)
	doubt, alike := 1.0, 0.0
	for _, at := range m.found {
		f, density := v.features[at], float64(m.counts[at])/words
		if f.share > 0 {
			alike += f.share * min(1, density/f.density)
		} else {
			doubt *= 1 - f.mention*density/(density+dense)
		}
	}
	return 1 - doubt*(1-min(1, alike))
}

// read counts the features of v in a text, and returns the text's length in words. The counts are
// then in m.counts, and the features that occur in the text in m.found.
func (m *matcher) read(v *vocabulary, text string) int {
	for _, f := range m.found {
		m.counts[f] = 0
	}
	m.found = m.found[:0]
	if text == "" {
		return 0
	}
	head, at := "", 0 // the last term that is the first of a pair, and its position
	return m.analyzer.Each(text, func(o analysis.Occurrence) bool {
		if o.Half < o.End { // a pair of characters; the first may be a word
			m.count(v.terms, o.Term[:strings.IndexByte(o.Term, ' ')+1])
		}
		t := m.count(v.terms, o.Term)
		if t.tail && at == o.Position-1 {
			if f, known := v.pairs[[2]string{head, o.Term}]; known {
				m.add(f)
			}
		}
		if t.head {
			head, at = o.Term, o.Position
		}
		return true
	})
}

// count adds 1 to the count of the feature that consists of only the given term, if there is such a
// feature. It returns the term's entry in the map, which says in which features the term occurs.
// The result is the zero entry if the term is unknown.
func (m *matcher) count(terms map[string]term, name string) term {
	t, known := terms[name]
	if known && t.feature >= 0 {
		m.add(t.feature)
	}
	return t
}

// add adds 1 to the count of the feature with this index.
func (m *matcher) add(feature int) {
	if m.counts[feature] == 0 {
		m.found = append(m.found, feature)
	}
	m.counts[feature]++
}
