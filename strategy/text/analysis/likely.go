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
	maxTypical   = 4 // letters of a query that count as typical of a language
)

// Likely returns the one to four languages in which a query is analysed, the likeliest
// first. documents is the number of documents in each language. All languages without
// rules of their own for the script of the query count as one, "", because they give
// the same terms. Each letter of the query that is typical of a language, up to four, multiplies
// the language's number of documents by ten.
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
		weights[code] *= math.Pow(10, float64(typical(text, table[code].letters)))
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

// typical counts the characters of a text that are typical letters of a language, up to
// maxTypical.
func typical(text, letters string) int {
	count := 0
	for _, r := range text {
		if r >= utf8.RuneSelf && strings.ContainsRune(letters, r) {
			count++
		}
	}
	return min(count, maxTypical)
}
