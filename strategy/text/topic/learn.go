package topic

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

const (
	passage        = 50   // words of a sample in a passage
	maxTerms       = 20   // features from the samples
	minOccurrences = 3    // of a term in all samples
	minResidual    = 0.1  // residual idf of a feature; a smaller one may be an accident
	sampleMention  = 0.35 // mention of the best feature from the samples
)

// usage counts the occurrences of a term in the samples.
type usage struct {
	term                     string
	count, passages, samples int
	passage, sample          int // where the last occurrence is, from 1
}

// learn adds the terms that characterise the samples as features.
func (v *vocabulary) learn(analyzer *analysis.Analyzer, samples []string) {
	used := map[string]*usage{}
	words, passages := 0, 0
	for i, sample := range samples {
		n := analyzer.Each(cut(sample, MaxText), func(o analysis.Occurrence) bool {
			if !canBeFeature(o) {
				return true
			}
			u := used[o.Term]
			if u == nil {
				u = &usage{term: strings.Clone(o.Term)}
				used[u.term] = u
			}
			u.add(i+1, passages+1+(o.Position-1)/passage)
			return true
		})
		words += n
		passages += (n + passage - 1) / passage
	}
	v.addBest(used, len(samples), passages, words)
}

// canBeFeature reports whether a term can be a feature: a pair of characters, or the exact
// form of a word of more than two bytes without digits.
func canBeFeature(o analysis.Occurrence) bool {
	if o.Half < o.End {
		return true // a pair of characters
	}
	return o.Word != "" && o.End-o.Start > 2 && !strings.ContainsFunc(o.Term, unicode.IsDigit)
}

// add counts an occurrence of a term. Passages are numbered across all samples.
func (u *usage) add(sample, passage int) {
	u.count++
	if u.passage != passage {
		u.passage = passage
		u.passages++
	}
	if u.sample != sample {
		u.sample = sample
		u.samples++
	}
}

// gain returns how characteristic a term is of the samples; 0 if it cannot be a feature.
func (u *usage) gain(samples, passages int) float64 {
	if u.count < minOccurrences || u.samples < min(2, samples) {
		return 0
	}
	n := float64(passages)
	chance := 1 - math.Exp(-float64(u.count)/n)            // that a passage has the term
	residual := math.Log(chance * n / float64(u.passages)) // residual idf
	if residual < minResidual {
		return 0
	}
	return math.Sqrt(float64(u.count)) * residual * float64(u.samples) / float64(samples)
}

// addBest adds the terms with the most gain as features.
func (v *vocabulary) addBest(used map[string]*usage, samples, passages, words int) {
	type candidate struct {
		*usage
		gain float64
	}
	var best []candidate
	for _, u := range used {
		if gain := u.gain(samples, passages); gain > 0 {
			best = append(best, candidate{u, gain})
		}
	}
	slices.SortFunc(best, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.term, b.term))
	})
	best = best[:min(len(best), maxTerms)]
	sum := 0.0
	for _, l := range best {
		sum += l.gain
	}
	for _, l := range best {
		v.addTerm(l.term, topicFeature{
			mention: sampleMention * l.gain / best[0].gain,
			share:   l.gain / sum,
			density: float64(l.count) / float64(words),
		})
	}
}
