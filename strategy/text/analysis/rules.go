package analysis

import (
	"strings"
	"unicode"
)

// Rules returns the code of the language by whose rules a query is split into terms, for a search
// of the documents in one language. The parameter tag is the BCP 47 tag of this language. If the
// language has rules for a script in the query, the result is its own code. Otherwise the result is
// "" (no language): for instance, German has no rules for a query in Cyrillic letters.
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
