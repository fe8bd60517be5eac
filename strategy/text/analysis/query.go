package analysis

import (
	"slices"
	"strings"
)

// Word is a word of a query, or a pair of characters of a script without spaces.
type Word struct {
	Text       string   // the word in lower case and NFKC, as in Occurrence.Word; "" for pairs
	Terms      []string // terms that the analyzers make of the word, in the order of the analyzers, each term only once
	Of         []int    // Terms[Of[i]] is the term that the i-th analyzer makes of the word
	Lone       bool     // the word is one character of a script without spaces; its term is the character and a space
	Position   int      // number of the word in the query, from 1; as Occurrence.Position
	Start, End int      // range of the word in the query, in bytes
	Parts      int      // for a joined word, the number of its parts, which precede it in the list; else 0
}

// Query returns the words of a query or phrase, each with the terms that the analyzers make of it.
// There must be at least one analyzer; all divide a text into the same words. A joined word
// (e-mail) follows its last part in the list, and has the same position. In a document with the
// phrase, the words have the same distances from each other as in the result (see Word.Position).
func Query(text string, analyzers []*Analyzer) []Word {
	var words []Word
	for i, a := range analyzers {
		at := 0
		position, end := 0, 0 // position and end of the previous occurrence
		a.Each(text, func(o Occurrence) bool {
			looser := o.Position == position && o.Parts == 0
			covered := o.Position == position+1 && o.End == end // the last character of a run is in the previous pair
			position, end = o.Position, o.End
			if looser || covered {
				return true
			}
			if i == 0 {
				words = append(words, wordOf(o, len(analyzers)))
				return true
			}
			for at < len(words) && (words[at].Position < o.Position || words[at].Position == o.Position && words[at].Parts < o.Parts) {
				at++
			}
			if at < len(words) && words[at].Position == o.Position && words[at].Parts == o.Parts {
				words[at].add(i, o.Term)
			}
			return true
		})
	}
	return words
}

// add records the term that one of the analyzers makes of the word. The parameter rules is the
// index of this analyzer among those of Query.
func (w *Word) add(rules int, term string) {
	n := slices.Index(w.Terms, term)
	if n < 0 {
		n = len(w.Terms)
		w.Terms = append(w.Terms, term)
	}
	w.Of[rules] = n
}

func wordOf(o Occurrence, rules int) Word {
	return Word{
		Text:     o.Word,
		Terms:    []string{o.Term},
		Of:       make([]int, rules),
		Lone:     strings.HasSuffix(o.Term, " "),
		Position: o.Position,
		Parts:    o.Parts,
		Start:    o.Start,
		End:      o.End,
	}
}
