package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/blugelabs/bluge/analysis"
)

// Light stemmers for languages for which bluge has none. They remove plural suffixes, and
// words that the language writes joined to the word before, such as particles.
var (
	// Particles, then possessives: of the rules of Tala (2003), those that do not give
	// words of different roots the same stem.
	malay = newSuffixFilter(4, []string{"lah", "kah", "tah", "pun"}, []string{"nya", "ku", "mu"})
	// The plural, with the suffixes that follow it. A plural that a non-joiner separates
	// from the word is a word of its own.
	persian = newSuffixFilter(2, []string{"هایی", "های", "هایم", "هایت", "هایش", "ها"})
	// Postpositions, then the plural.
	nepali = newSuffixFilter(2, []string{"लाई", "बाट", "देखि", "सँग", "द्वारा", "सम्म", "को", "का", "की", "ले", "मा"}, []string{"हरू"})
)

// cedillas replaces the commas below Romanian letters by the cedillas of old character
// sets, which bluge's stemmer expects.
var cedillas = replaceFilter{strings.NewReplacer("ș", "ş", "ț", "ţ")}

// replaceFilter replaces letters.
type replaceFilter struct{ *strings.Replacer }

// Filter implements analysis.TokenFilter.
func (f replaceFilter) Filter(stream analysis.TokenStream) analysis.TokenStream {
	for _, t := range stream {
		t.Term = []byte(f.Replace(string(t.Term)))
	}
	return stream
}

// suffixFilter removes suffixes from words, which must be folded: of each list in turn,
// the longest suffix of the word that leaves enough characters.
type suffixFilter struct {
	least int        // number of characters that must remain
	lists [][]string // each sorted, the longest suffix first
}

// newSuffixFilter returns the filter for lists of suffixes, which it folds.
func newSuffixFilter(least int, lists ...[]string) suffixFilter {
	f := suffixFilter{least: least}
	for _, list := range lists {
		endings := make([]string, len(list))
		for i, ending := range list {
			endings[i] = fold(ending)
		}
		slices.SortFunc(endings, func(a, b string) int { return len(b) - len(a) })
		f.lists = append(f.lists, endings)
	}
	return f
}

// Filter implements analysis.TokenFilter.
func (f suffixFilter) Filter(stream analysis.TokenStream) analysis.TokenStream {
	for _, t := range stream {
		t.Term = []byte(f.strip(string(t.Term)))
	}
	return stream
}

// strip returns a word without its suffixes.
func (f suffixFilter) strip(word string) string {
	for _, endings := range f.lists {
		for _, ending := range endings {
			if rest, ends := strings.CutSuffix(word, ending); ends && utf8.RuneCountInString(rest) >= f.least {
				word = rest
				break
			}
		}
	}
	return word
}
