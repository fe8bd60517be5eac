package translation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// Limits bound the dictionaries that are learnt for one pair of languages, and the memory and time
// for it.
type Limits struct {
	Sentences int // greatest number of sentences of a page; the rest of its text is left out
	// Pairs limits the size of the input. A sentence with m different terms, whose translation has n
	// different terms, counts (m+1)·(n+1). Sentences with which the sum of all would exceed Pairs are
	// left out. A sum of 10 million takes some 150 MB and five seconds.
	Pairs int
}

// DefaultLimits returns limits that suit a function in the cloud: a pair of languages takes some
// 150 MB of memory.
func DefaultLimits() Limits { return Limits{Sentences: 500, Pairs: 10_000_000} }

const (
	iterations = 6   // number of iterations of EM (expectation maximization); more of them change little
	mostTerms  = 100 // greatest number of terms of a sentence; longer ones are mostly lists, and are left out
	// least number of aligned sentences in which a term must occur to be translated, or to be a
	// translation
	leastTimes = 2
	least      = 0.04 // least probability of a translation that is kept
)

// Text is the text of a page in one language.
type Text struct {
	Title string
	Body  string // lines of text
}

// Summary says from how much text the dictionaries were learnt, and what was left out because of
// limits.
type Summary struct {
	Pages     int // number of pages that were read, each with its translation
	Sentences int // number of pairs (a sentence and its translation) from which the dictionaries were learnt
	Cut       Cut
}

// Cut counts the parts of the input that were left out because of limits.
type Cut struct {
	Bytes     int // bytes of text after the first Limits.Sentences sentences of pages
	Long      int // pairs of sentences left out because one of the two has more than mostTerms terms
	Sentences int // pairs of sentences left out because of Limits.Pairs
	Terms     int // number of rare terms left out because a dictionary has at most dictionary.MaxSources terms
}

// Omitted returns a text for each limit that left something out, such as "12 of 90 pairs of
// sentences" for Limits.Pairs.
func (s *Summary) Omitted() (texts []string) {
	add := func(n int, format string, args ...any) {
		if n > 0 {
			texts = append(texts, fmt.Sprintf(format, args...))
		}
	}
	c, all := s.Cut, s.Sentences+s.Cut.Long+s.Cut.Sentences
	add(c.Bytes, "%d bytes at the ends of long pages", c.Bytes)
	add(c.Long, "%d of %d pairs of sentences, of more than %d words", c.Long, all, mostTerms)
	add(c.Sentences, "%d of %d pairs of sentences", c.Sentences, all)
	add(c.Terms, "the %d rarest words", c.Terms)
	return texts
}

// Learner learns two dictionaries for a pair of languages, one in each direction. It is not safe
// for concurrent use.
type Learner struct {
	limits Limits
	sides  [2]vocabulary
	all    []aligned
	// sum over all stored pairs of sentences: (number of terms in the one + 1) · (number of terms
	// in the other + 1); Limits.Pairs is its limit
	pairs   int
	summary Summary
}

// NewLearner returns a learner of the dictionaries between two languages, which are given as
// primary subtags (RFC 5646).
func NewLearner(language, other string, limits Limits) *Learner {
	l := &Learner{limits: limits}
	for i, name := range []string{language, other} {
		l.sides[i] = vocabulary{analyzer: analysis.For(name), numbers: make(map[string]uint32), terms: []string{""}, times: []int{0}}
	}
	return l
}

// Add gives the learner a page in the first language and its translation in the second language. It
// aligns the sentences of the two texts and stores the aligned pairs, from which Learn will make
// the dictionaries.
func (l *Learner) Add(page, translated Text) {
	l.summary.Pages++
	l.align([]string{page.Title}, []string{translated.Title}, bead{0, 1, 0, 1})
	text, cut := sentences(page.Body, l.limits.Sentences)
	other, cutOther := sentences(translated.Body, l.limits.Sentences)
	l.summary.Cut.Bytes += cut + cutOther
	l.align(text, other, align(text, other)...)
}

// align stores the beads of two texts as aligned pairs, from which Learn will learn. A bead is a
// group of sentences with its translation. align leaves out beads without terms in one of the
// languages, beads with too many terms, and those for which Limits.Pairs leaves no room. Each text is
// given as a list of its sentences.
func (l *Learner) align(text, other []string, beads ...bead) {
	for _, b := range beads {
		source, target := l.sides[0].analyse(text[b.from:b.to]), l.sides[1].analyse(other[b.fromOther:b.toOther])
		n := (len(source) + 1) * (len(target) + 1)
		switch {
		case len(source) == 0 || len(target) == 0:
		case len(source) > mostTerms || len(target) > mostTerms:
			l.summary.Cut.Long++
		case l.pairs+n > l.limits.Pairs:
			l.summary.Cut.Sentences++
		default:
			l.pairs += n
			l.summary.Sentences++
			l.all = append(l.all, aligned{l.sides[0].count(source), l.sides[1].count(target)})
		}
	}
}

// Learn returns the entries of the dictionary from the first language to the other (forth), and those
// of the dictionary in the opposite direction (back).
func (l *Learner) Learn(ctx context.Context) (forth, back []dictionary.Entry, summary Summary, err error) {
	var models [2]model
	for i := range models {
		directed := make([]aligned, len(l.all))
		for n, a := range l.all {
			if i == 1 {
				a.source, a.target = a.target, a.source
			}
			a.source = append([]uint32{empty}, a.source...)
			directed[n] = a
		}
		if models[i], err = train(ctx, directed, len(l.sides[i].terms), len(l.sides[1-i].terms), iterations); err != nil {
			return nil, nil, Summary{}, err
		}
	}
	forth = l.entries(0, models[0], models[1])
	back = l.entries(1, models[1], models[0])
	return forth, back, l.summary, nil
}

// entries returns the entries of the dictionary from the language l.sides[from] to the other language.
// The parameter m is the model in this direction, and back is the model in the opposite direction.
//
// A translation must be probable in both directions. Let p be the probability in the model m that the
// term t translates the term s, and q the probability in the model back that s translates t. Then the
// weight of t is √(p·q). Its probability in the dictionary is this weight, divided by the sum of the
// weights of all translations of s.
func (l *Learner) entries(from int, m, back model) (entries []dictionary.Entry) {
	sources, targets := &l.sides[from], &l.sides[1-from]
	for s, row := range m {
		if s == empty || sources.times[s] < leastTimes {
			continue
		}
		var found []dictionary.Translation
		sum := 0.0
		for _, c := range row {
			both := math.Sqrt(float64(c.probability) * float64(back.find(c.target, uint32(s))))
			sum += both
			if targets.times[c.target] >= leastTimes {
				found = append(found, dictionary.Translation{Term: targets.terms[c.target], Probability: both})
			}
		}
		for i := range found {
			found[i].Probability /= sum
		}
		found = slices.DeleteFunc(found, func(t dictionary.Translation) bool { return !(t.Probability >= least) })
		slices.SortFunc(found, func(a, b dictionary.Translation) int {
			return cmp.Or(cmp.Compare(b.Probability, a.Probability), cmp.Compare(a.Term, b.Term))
		})
		if len(found) > 0 {
			entries = append(entries, dictionary.Entry{Term: sources.terms[s], Translations: found[:min(len(found), dictionary.MaxTranslations)]})
		}
	}
	if cut := len(entries) - dictionary.MaxSources; cut > 0 {
		l.summary.Cut.Terms += cut
		times := func(e dictionary.Entry) int { return sources.times[sources.numbers[e.Term]] }
		slices.SortFunc(entries, func(a, b dictionary.Entry) int {
			return cmp.Or(cmp.Compare(times(b), times(a)), cmp.Compare(a.Term, b.Term))
		})
		entries = entries[:dictionary.MaxSources]
	}
	slices.SortFunc(entries, func(a, b dictionary.Entry) int { return cmp.Compare(a.Term, b.Term) })
	return entries
}

// vocabulary numbers the terms of a language, from 1 on, in the order in which they first occur.
type vocabulary struct {
	analyzer *analysis.Analyzer
	numbers  map[string]uint32
	terms    []string // the terms, by their numbers
	times    []int    // number of aligned sentences that contain each term, by the number of the term
}

// analyse returns the terms of the sentences in texts, each once, in the order in which they first
// occur.
func (v *vocabulary) analyse(texts []string) (terms []string) {
	seen := make(map[string]bool)
	for _, text := range texts {
		v.analyzer.Each(text, func(o analysis.Occurrence) bool {
			if !seen[o.Term] {
				seen[o.Term] = true
				terms = append(terms, o.Term)
			}
			return true
		})
	}
	return terms
}

// count records that one more aligned sentence contains the given terms. Each term must be given once.
// It returns the terms' numbers in the vocabulary, in ascending order.
func (v *vocabulary) count(terms []string) []uint32 {
	numbers := make([]uint32, len(terms))
	for i, term := range terms {
		n, known := v.numbers[term]
		if !known {
			n = uint32(len(v.terms))
			v.numbers[term] = n
			v.terms, v.times = append(v.terms, term), append(v.times, 0)
		}
		v.times[n]++
		numbers[i] = n
	}
	slices.Sort(numbers)
	return numbers
}
