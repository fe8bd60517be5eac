package document

import (
	"strings"
	"unicode/utf8"
)

// joinWords returns the words of a text, joined by single spaces.
func joinWords(s string) string {
	if isJoined(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// isJoined reports whether a text is ASCII with single spaces between its words and no other
// white space, as most texts are.
func isJoined(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == ' ' && last == ' ' {
			return false
		}
		last = s[i]
	}
	return s == "" || last != ' '
}

// cut returns the first n bytes of a text, or all if it is shorter, without white space at the
// ends. It cuts before a rune that would be split.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n])
}
