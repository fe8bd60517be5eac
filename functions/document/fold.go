package document

import (
	"strings"
	"unicode/utf8"
)

// fold joins the words of a text by one space.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// cut returns the first n bytes of a text, fewer where a rune would be split.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n])
}
