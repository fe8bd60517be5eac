// Package style finds the addresses in style sheets (CSS Syntax Module Level 3), and the classes and ids
// of elements that they hide (see Hidden):
//
//	@import "a.css";  @import url(a.css);  background: url('b.png');  src: url(c.woff)
//	.note { display: none }
//
// It reads tokens only, in time linear in the sheet, and never fails.
package style

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Rewrite returns a style sheet, or the declarations of a style attribute, with new addresses. The
// function replace gets an old address and returns the new one. Its parameter isSheet is true for the
// address of another style sheet (after @import). All other bytes stay the same. If no address
// changes, the result is the given slice and no copy.
func Rewrite(sheet []byte, replace func(url string, isSheet bool) string) []byte {
	r := rewriter{sheet: sheet, replace: replace}
	r.run()
	if r.out == nil {
		return sheet
	}
	return append(r.out, sheet[r.copied:]...)
}

type rewriter struct {
	sheet   []byte
	replace func(string, bool) string
	out     []byte // result so far: sheet[:copied] with new addresses
	copied  int
}

func (r *rewriter) run() {
	s := r.sheet
	imports := false // the last token was @import, so a string is an address
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '/' && i+1 < len(s) && s[i+1] == '*':
			end := bytes.Index(s[i+2:], []byte("*/"))
			if end < 0 {
				return
			}
			i += end + 4
		case c == '"' || c == '\'':
			text, end := quoted(s, i)
			if imports {
				r.address(i+1, end-1, text, true, c)
				imports = false
			}
			i = end
		case c == '@':
			name, end := identifier(s, i+1)
			imports = strings.EqualFold(name, "import")
			i = max(end, i+1)
		case isName(c) || c == '\\':
			name, end := identifier(s, i)
			if end < len(s) && s[end] == '(' && strings.EqualFold(name, "url") {
				end = r.function(end+1, imports)
				imports = false
			}
			i = max(end, i+1)
		default:
			if c == ';' || c == '{' || c == '}' {
				imports = false
			}
			i++
		}
	}
}

// function reads the address in url(…), and calls the method address to replace it. The parameter i
// is the offset after the opening parenthesis. The parameter isSheet says whether the address is that
// of another style sheet (after @import). The result is the offset after the address.
func (r *rewriter) function(i int, isSheet bool) int {
	s := r.sheet
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		text, end := quoted(s, i)
		r.address(i+1, end-1, text, isSheet, s[i])
		return end
	}
	var text []byte
	from := i
	for i < len(s) && s[i] != ')' && !isSpace(s[i]) {
		if s[i] == '\\' {
			text, i = unescape(text, s, i)
			continue
		}
		text = append(text, s[i])
		i++
	}
	r.address(from, i, string(text), isSheet, 0)
	return i
}

// address calls r.replace for an address in the sheet, and writes the result in its place. The
// address as the sheet has it is r.sheet[from:to]; the parameter url is the address without
// escapes. The parameter isSheet is true for the address of another style sheet. The parameter
// quote is the quotation mark around the address, or 0 if there is none.
func (r *rewriter) address(from, to int, url string, isSheet bool, quote byte) {
	if to < from || strings.TrimSpace(url) == "" {
		return
	}
	other := r.replace(strings.TrimSpace(url), isSheet)
	if other == strings.TrimSpace(url) {
		return
	}
	r.out = append(append(r.out, r.sheet[r.copied:from]...), escape(other, quote)...)
	r.copied = to
}

// escape returns an address with its special characters escaped for a style sheet. The parameter
// quote is the quotation mark that stands around the address there, or 0 if none does. Control
// characters are left out.
func escape(url string, quote byte) string {
	var b strings.Builder
	for _, c := range []byte(url) {
		special := c == '\\' || c == quote || quote == 0 && strings.IndexByte(`"'() `, c) >= 0
		switch {
		case c < ' ' || c == 0x7F: // no address has it
			continue
		case special:
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// quoted reads a string whose opening quotation mark is at offset i. It returns the string with its
// escapes resolved, and the offset after its closing quotation mark. If the closing mark is
// missing, it returns "" and the offset of the end of the line.
func quoted(s []byte, i int) (string, int) {
	quote := s[i]
	var text []byte
	for i++; i < len(s); {
		switch c := s[i]; {
		case c == quote:
			return string(text), i + 1
		case c == '\n':
			return "", i
		case c == '\\':
			text, i = unescape(text, s, i)
		default:
			text = append(text, c)
			i++
		}
	}
	return "", i
}

// identifier returns the name that begins at offset i, with its escapes resolved, and the offset
// after it. The name is "" if none begins there.
func identifier(s []byte, i int) (string, int) {
	var name []byte
	for i < len(s) && (isName(s[i]) || s[i] == '\\') {
		if s[i] == '\\' {
			name, i = unescape(name, s, i)
			continue
		}
		name = append(name, s[i])
		i++
	}
	return string(name), i
}

// unescape decodes the escape at offset i of s (CSS Syntax, 4.3.7), and appends its character to a
// slice. It returns the longer slice, and the offset after the escape.
func unescape(to, s []byte, i int) ([]byte, int) {
	i++ // the backslash
	if i >= len(s) {
		return to, i
	}
	if s[i] == '\n' {
		return to, i + 1
	}
	r, n := rune(0), 0
	for n < 6 && i+n < len(s) {
		d := strings.IndexByte("0123456789abcdef", s[i+n]|0x20)
		if s[i+n] >= '0' && s[i+n] <= '9' {
			d = int(s[i+n] - '0')
		}
		if d < 0 || d > 9 && s[i+n] < 'A' {
			break
		}
		r, n = r<<4|rune(d), n+1
	}
	if n == 0 {
		return append(to, s[i]), i + 1
	}
	if i += n; i < len(s) && isSpace(s[i]) {
		i++
	}
	return utf8.AppendRune(to, r), i
}

func isName(c byte) bool {
	return c == '-' || c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }
