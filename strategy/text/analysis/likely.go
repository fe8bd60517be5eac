package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxLanguages = 4 // in which a query is analysed
	maxOwn       = 4 // letters that tell a language
)

// Likely returns the languages in which a query should be analysed, the
// likeliest first: one to four, given the corpus' documents a language.
// Languages that make the same terms of the query count as one, "". Every letter
// in the query that tells a language from others, up to four, counts like ten
// times the documents.
func Likely(text string, documents map[string]int) []string {
	weights := map[string]float64{}
	for tag, n := range documents {
		code := codeOf(tag)
		if l := table[code]; l.script == nil || !uses(text, l.script) {
			code = ""
		}
		weights[code] += float64(n)
	}
	if len(weights) == 0 {
		return []string{""}
	}
	text = strings.ToLower(text)
	for code := range weights {
		weights[code] *= math.Pow(10, float64(own(text, table[code].letters)))
	}
	languages := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(a, b))
	})
	return languages[:min(len(languages), maxLanguages)]
}

// uses reports whether a text has letters of a script.
func uses(text string, script *unicode.RangeTable) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(script, r) })
}

// own counts the characters of a text that are among a language's letters, up
// to maxOwn.
func own(text, letters string) int {
	count := 0
	for _, r := range text {
		if r >= utf8.RuneSelf && strings.ContainsRune(letters, r) {
			count++
		}
	}
	return min(count, maxOwn)
}
