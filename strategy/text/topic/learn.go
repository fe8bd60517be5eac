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
	passage        = 50   // length of a passage of a sample, in words
	maxTerms       = 20   // maximum number of terms from the samples that become features
	minOccurrences = 3    // minimum number of occurrences of a feature in all samples
	minResidual    = 0.1  // minimum residual idf of a feature; a lower one may be due to chance
	sampleMention  = 0.35 // how much the best term of the samples, in a short text, speaks for the topic, from 0 to 1
)

// usage counts how often a term occurs in the samples.
type usage struct {
	term                     string
	count, passages, samples int // numbers of the term's occurrences, of passages with it, and of samples with it
	// numbers, from 1, of the passage and the sample of the last occurrence; they show whether the
	// next one is in a new passage or sample
	passage, sample int
}

// learn adds to the vocabulary the terms that are characteristic of the samples.
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

// canBeFeature reports whether the term of an occurrence in a sample can become a feature: it is
// the term of a pair of characters, or of a word that has more than two bytes and no digits. The
// second, looser term of a word (see analysis.Occurrence) cannot.
func canBeFeature(o analysis.Occurrence) bool {
	if o.Half < o.End {
		return true // a pair of characters
	}
	return o.Word != "" && o.End-o.Start > 2 && !strings.ContainsFunc(o.Term, unicode.IsDigit)
}

// add counts one occurrence of the term, in the sample and the passage with these numbers.
// Passages are numbered through all samples.
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

// gain returns how characteristic a term is of the samples (see the package comment); 0 if the term
// cannot be a feature. The parameters are the total numbers of samples and of passages.
func (u *usage) gain(samples, passages int) float64 {
	if u.count < minOccurrences || u.samples < min(2, samples) {
		return 0
	}
	n := float64(passages)
	chance := 1 - math.Exp(-float64(u.count)/n)            // probability that a passage has the term
	residual := math.Log(chance * n / float64(u.passages)) // residual idf
	if residual < minResidual {
		return 0
	}
	return math.Sqrt(float64(u.count)) * residual * float64(u.samples) / float64(samples)
}

// addBest adds the terms with the most gain to the vocabulary, as features. The parameter used has
// the counts of each term in the samples, by the term. The other parameters are the total numbers
// of samples, of passages and of words.
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
