package analysis

import (
	"strings"
	"unicode"
)

// Rules returns the code of the language by whose rules the words of a query become terms, if
// the query is to find documents in the language tag. It is "" if that language has no rules
// of its own for the script of the query: then the terms are those of no language.
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
