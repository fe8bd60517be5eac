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
	passage       = 50   // words of a sample that are looked at together
	maxLearnt     = 20   // terms
	leastLearnt   = 3    // times that a term is in the samples
	leastResidual = 0.1  // residual idf; less comes by accident
	learntMention = 0.35 // what the best of them mentions
)

// usage counts the occurrences of a term in the samples.
type usage struct {
	term                     string
	count, passages, samples int
	passage, sample          int // the last of them, from 1
}

// learn adds the terms that characterise the samples.
func (v *vocabulary) learn(analyzer *analysis.Analyzer, samples []string) {
	used := map[string]*usage{}
	words, passages := 0, 0
	for i, sample := range samples {
		n := analyzer.Each(cut(sample, MaxText), func(o analysis.Occurrence) bool {
			if !tells(o) {
				return true
			}
			u := used[o.Term]
			if u == nil {
				u = &usage{term: strings.Clone(o.Term)}
				used[u.term] = u
			}
			u.meet(i+1, passages+1+(o.Position-1)/passage)
			return true
		})
		words += n
		passages += (n + passage - 1) / passage
	}
	v.keep(used, len(samples), passages, words)
}

// tells reports whether a term can be a feature: no number, single letter or looser form.
func tells(o analysis.Occurrence) bool {
	if o.Half < o.End {
		return true // a pair of characters
	}
	return o.Word != "" && o.End-o.Start > 2 && !strings.ContainsFunc(o.Term, unicode.IsDigit)
}

func (u *usage) meet(sample, passage int) {
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

// gain returns how characteristic a term is of the samples.
func (u *usage) gain(samples, passages int) float64 {
	if u.count < leastLearnt || u.samples < min(2, samples) {
		return 0
	}
	n := float64(passages)
	chance := 1 - math.Exp(-float64(u.count)/n)            // that a passage has the term
	residual := math.Log(chance * n / float64(u.passages)) // residual idf
	if residual < leastResidual {
		return 0
	}
	return math.Sqrt(float64(u.count)) * residual * float64(u.samples) / float64(samples)
}

// keep adds the terms with the most gain.
func (v *vocabulary) keep(used map[string]*usage, samples, passages, words int) {
	type learnt struct {
		*usage
		gain float64
	}
	var best []learnt
	for _, u := range used {
		if gain := u.gain(samples, passages); gain > 0 {
			best = append(best, learnt{u, gain})
		}
	}
	slices.SortFunc(best, func(a, b learnt) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.term, b.term))
	})
	best = best[:min(len(best), maxLearnt)]
	sum := 0.0
	for _, l := range best {
		sum += l.gain
	}
	for _, l := range best {
		v.addTerm(l.term, topicFeature{
			mention: learntMention * l.gain / best[0].gain,
			share:   l.gain / sum,
			density: float64(l.count) / float64(words),
		})
	}
}
