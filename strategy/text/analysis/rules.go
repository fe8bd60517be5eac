package analysis

import (
	"strings"
	"unicode"
)

// Rules returns the code of the language by whose rules a query is split into terms, so that it
// finds documents in the language tag. It is "", no language, if that language has no rules for
// the script of the query: German has none for Cyrillic letters.
func Rules(tag, query string) string {
	code := codeOf(tag)
	if l := table[code]; l.script == nil || !uses(query, l.script) {
		return ""
	}
	return code
}

// uses reports whether a text has letters of a script.
func uses(text string, script *unicode.RangeTable) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(script, r) })
}
