package analysis

import (
	"strings"
	"unicode"
)

// Rules returns the code of the language by whose rules a query is split into terms, to find
// documents in the language of a BCP 47 tag. This is the same language, or "" (no language) if it
// has no rules for the script of the query: German has none for Cyrillic letters.
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
