package hypertext

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// maxName is the greatest length of a named character reference, in bytes.
const maxName = 32

// appendDecoded appends a text with its character references decoded (WHATWG HTML, 13.2.5.72). The
// parameter inAttribute is true for the value of an attribute, in which "&copy=1" is plain text,
// and not a reference.
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

// isWhole reports whether an & in the value of an attribute begins a character reference. The
// parameter text is what follows the &. Its first n bytes are the possible reference. The parameter
// decoded is the text that they would stand for outside of an attribute. Examples:
//
//	&copy;    yes
//	&copy=1   no, because of the =
//	&copyx    no, because of the x
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
// is the reference's text after the &. If it is no known reference, decodeReference returns it as
// text, with the &.
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
