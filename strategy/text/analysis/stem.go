package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/blugelabs/bluge/analysis"
)

// Light stemmers for languages that have none in bluge. They remove plural suffixes, and
// particles and the like that are written together with the word before.
var (
	// malay removes particles, then possessives. Tala (2003) has more rules. Some of these give
	// words of different roots the same stem, so that they are left out here.
	malay = newSuffixFilter(4, []string{"lah", "kah", "tah", "pun"}, []string{"nya", "ku", "mu"})
	// persian removes the plural suffix (ها), together with any suffix that follows it (as in
	// هایی). If the plural suffix is separated from its noun by a zero-width non-joiner, there is
	// nothing to remove: the analyzer has already made it a word of its own.
	persian = newSuffixFilter(2, []string{"هایی", "های", "هایم", "هایت", "هایش", "ها"})
	// nepali removes postpositions, then the plural suffix.
	nepali = newSuffixFilter(2, []string{"लाई", "बाट", "देखि", "सँग", "द्वारा", "सम्म", "को", "का", "की", "ले", "मा"}, []string{"हरू"})
)

// cedillas replaces the commas below Romanian letters by the cedillas of old character
// sets, which bluge's stemmer expects.
var cedillas = replaceFilter{strings.NewReplacer("ș", "ş", "ț", "ţ")}

// replaceFilter is a token filter that replaces letters.
type replaceFilter struct{ *strings.Replacer }

// Filter implements analysis.TokenFilter: it replaces the letters in each word of the stream.
func (f replaceFilter) Filter(stream analysis.TokenStream) analysis.TokenStream {
	for _, t := range stream {
		t.Term = []byte(f.Replace(string(t.Term)))
	}
	return stream
}

// suffixFilter is a token filter that removes suffixes from words, which must be folded.
// For each list in turn it removes the longest suffix that leaves enough characters.
type suffixFilter struct {
	least int        // minimum number of characters that must remain of a word
	lists [][]string // lists of suffixes, each with the longest first
}

// newSuffixFilter returns a suffixFilter that removes the suffixes in these lists. It folds the
// suffixes first (see fold), because they are compared with folded words. The parameter least is the
// minimum number of characters that must remain of a word.
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

// Filter implements analysis.TokenFilter: it removes the suffixes of each word of the stream.
func (f suffixFilter) Filter(stream analysis.TokenStream) analysis.TokenStream {
	for _, t := range stream {
		t.Term = []byte(f.strip(string(t.Term)))
	}
	return stream
}

// strip returns a word without the suffixes in f.lists.
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
