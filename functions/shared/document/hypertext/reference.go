package hypertext

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// maxName is the greatest length of a named character reference, in bytes.
const maxName = 32

// appendDecoded decodes the character references in a text (WHATWG HTML, 13.2.5.72), and appends
// the result to the parameter to. The parameter inAttribute is true for the value of an attribute,
// in which some count as plain text: "&copy=1" is no reference there.
func appendDecoded(to, text []byte, inAttribute bool) []byte {
	for {
		before, rest, found := bytes.Cut(text, []byte("&"))
		to = append(to, before...)
		if !found {
			return to
		}
		n := referenceLength(rest)
		decoded := decodeReference(rest[:n])
		if inAttribute && n > 0 && rest[0] != '#' && !isWhole(rest, n, decoded) {
			decoded = "&" + string(rest[:n])
		}
		to = append(to, decoded...)
		text = rest[n:]
	}
}

// isWhole reports whether the first n bytes of a text after an &, which decode to decoded, are a
// complete character reference in the value of an attribute. Those of "copy=1" are not.
func isWhole(text []byte, n int, decoded string) bool {
	if text[n-1] == ';' {
		return decoded == ";" || !strings.HasSuffix(decoded, ";")
	}
	return utf8.RuneCountInString(decoded) == 1 && (n == len(text) || text[n] != '=')
}

// referenceLength returns how many bytes at the beginning of b, the text after an &, may belong to
// a character reference.
func referenceLength(b []byte) int {
	n := 0
	if n < len(b) && b[n] == '#' {
		n++
	}
	for n < len(b) && n < maxName && (isLetter(b[n]) || '0' <= b[n] && b[n] <= '9') {
		n++
	}
	if n < len(b) && b[n] == ';' {
		n++
	}
	return n
}

// decodeReference returns the characters that a character reference stands for. The parameter name
// is its text after the &. If it stands for none, decodeReference returns it as text, with the &.
func decodeReference(name []byte) string {
	switch string(name) {
	case "":
		return "&"
	case "amp;":
		return "&"
	case "lt;":
		return "<"
	case "gt;":
		return ">"
	case "quot;":
		return `"`
	case "nbsp;":
		return "\u00a0"
	case "#39;":
		return "'"
	}
	return html.UnescapeString("&" + string(name))
}
