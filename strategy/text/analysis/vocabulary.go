package analysis

// maxNumbers is the maximum number of strings in a Vocabulary. A full Vocabulary takes some 10 MB.
const maxNumbers = 1 << 17

// Vocabulary gives numbers, from 1, to terms and words, so that their data can be kept in slices
// instead of maps. Analyzers of several languages may share one. It is not safe for concurrent use.
type Vocabulary struct{ numbers map[string]uint32 }

// NewVocabulary returns an empty vocabulary.
func NewVocabulary() *Vocabulary { return &Vocabulary{numbers: map[string]uint32{}} }

// For returns a new Analyzer of a language. It numbers terms and words by this vocabulary, and
// writes the numbers into the fields TermNumber, WordNumber and FirstNumber of its occurrences.
// (The package's function For returns an Analyzer without a vocabulary, which sets these fields to
// 0.)
func (v *Vocabulary) For(name string) *Analyzer {
	a := For(name)
	a.vocabulary = v
	return a
}

// Number returns the number of a string. A string without a number gets the next one, which never
// changes. The result is 0 for "", and for a new string if the vocabulary is full.
func (v *Vocabulary) Number(s string) uint32 {
	if v == nil || s == "" {
		return 0
	}
	n, found := v.numbers[s]
	if !found && len(v.numbers) < maxNumbers {
		n = uint32(len(v.numbers) + 1)
		v.numbers[s] = n
	}
	return n
}
