package search

import "github.com/blevesearch/vellum/levenshtein"

// word is a word of a query and what it may be in documents.
type word struct {
	text     string // for people
	required bool
	begins   bool // variants are beginnings of terms
	prefix   bool // surface is the beginning of words
	edits    int  // by which words may differ from surface
	surface  string
	nearby   *levenshtein.DFA // accepts words that differ by edits

	place     int // among the words that score
	variants  []variant
	documents uint64  // that hold a variant; one that holds several is counted for each
	times     int     // in the query
	idf       float64 // inverse document frequency; 0 if no document holds it
	weight    float64 // idf, and more if the query repeats it
}

// variant is a term that stands for a word.
type variant struct {
	term   string
	number int     // among the gathered terms
	worth  float64 // beside the word itself
}

func (w *word) expands() bool { return w.begins || w.prefix || w.edits > 0 }

// phrase is words that stand one behind another.
type phrase struct {
	words  []*word
	at     []uint32 // how far each stands behind the first
	slop   int
	open   bool // the last word stands for others
	weight float64
}

func (ph *phrase) weigh() {
	for _, w := range ph.words {
		ph.weight += nearWeight * w.idf
	}
}
