package address

import "strings"

// NormalEscapes returns a URL, or a part of one, with percent-encoding in its normal form
// (RFC 3986, section 6.2.2): octets outside of ASCII encoded, hex digits in upper case,
// unreserved characters decoded. If the string has a stray '%' (without two hex digits after
// it), no escape is changed. Otherwise "%%341" would become "%41" (since %34 is a 4), and so
// its stray '%' would begin an escape. Applying NormalEscapes twice changes nothing more.
func NormalEscapes(s string) string {
	stray, change := false, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] >= 0x80:
			change = true
		case s[i] == '%':
			c, ok := unescape(s[i:])
			stray = stray || !ok
			change = change || ok && (unreserved(c) || isLowerHex(s[i+1]) || isLowerHex(s[i+2]))
		}
	}
	if !change {
		return s
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c, escaped := s[i], false
		if c == '%' && !stray {
			c, escaped = unescape(s[i:])
			i += 2
		}
		if c >= 0x80 || escaped && !unreserved(c) {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape decodes the escape with which s begins. It returns false if s does not begin
// with one.
func unescape(s string) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	high, okHigh := hexDigit(s[1])
	low, okLow := hexDigit(s[2])
	return high<<4 | low, okHigh && okLow
}

// hexDigit returns the value of a hexadecimal digit, and whether c is one.
func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

func isLowerHex(c byte) bool { return 'a' <= c && c <= 'f' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unreserved reports whether a byte is unreserved by RFC 3986, section 2.3.
func unreserved(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '-' || c == '.' || c == '_' || c == '~'
}
