package analysis

import (
	"strings"
	"unicode"
)

// Rules returns the code of the rules by which the words of a query become terms, where
// documents are in the language of a tag: that of the language, or "" if it has no rules of its own
// for the script of the query, so that its terms are those of every such language.
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
