package analysis

import (
	"slices"
	"strings"
)

// Word is a word of a query, or a pair of characters of a script without spaces.
type Word struct {
	Text       string   // the surface form, as in Occurrence.Word; "" for pairs
	Terms      []string // synonyms: its terms in each of the languages, the first language's first
	Prefix     bool     // Terms are beginnings of terms: a lone character of a script without spaces
	Position   int      // as in Occurrence
	Start, End int      // bytes of the query
}

// Query returns the words of a query, or of a phrase, with their terms in each of the
// languages; no languages mean "". Word boundaries are the same in every language. A
// document matches a phrase if its words are as far apart as their Positions here.
func Query(text string, languages []string) []Word {
	if len(languages) == 0 {
		languages = []string{""}
	}
	var words []Word
	for i, name := range languages {
		at := 0
		position, end := 0, 0 // of the previous occurrence
		For(name).Each(text, func(o Occurrence) bool {
			looser := o.Position == position
			covered := o.Position == position+1 && o.End == end // the last character of a run is in the previous pair
			position, end = o.Position, o.End
			if looser || covered {
				return true
			}
			if i == 0 {
				words = append(words, wordOf(o))
				return true
			}
			for at < len(words) && words[at].Position < o.Position {
				at++
			}
			if at < len(words) && words[at].Position == o.Position && !slices.Contains(words[at].Terms, o.Term) {
				words[at].Terms = append(words[at].Terms, o.Term)
			}
			return true
		})
	}
	return words
}

func wordOf(o Occurrence) Word {
	return Word{
		Text:     o.Word,
		Terms:    []string{o.Term},
		Prefix:   strings.HasSuffix(o.Term, " "),
		Position: o.Position,
		Start:    o.Start,
		End:      o.End,
	}
}
