package analysis

import (
	"strings"
	"unicode"
)

// Rules returns the code of the language with which For analyses a query that is to find documents
// in the language tag. It is "", which stands for no language, if the language has no rules of its
// own for the script of the query: a German rule does nothing to a query in Cyrillic letters.
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
