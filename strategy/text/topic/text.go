package topic

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// cut returns the longest beginning of a text of at most limit bytes, in whole characters.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// named returns the words of an address: without scheme, escapes and file extension.
func named(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	path, query, _ := strings.Cut(address, "?")
	slash, dot := strings.LastIndexByte(path, '/'), strings.LastIndexByte(path, '.')
	if slash >= 0 && dot > slash {
		address = strings.TrimSuffix(path[:dot]+"?"+query, "?")
	}
	if strings.IndexByte(address, '%') < 0 {
		return address
	}
	if plain, err := url.PathUnescape(address); err == nil {
		return plain
	}
	return address
}

// parted returns at most MaxShort bytes of a text, and if it has identifiers, the text again
// with their words separated: "QXmlReader" becomes "QXmlReader Q Xml Reader".
func parted(text string) string {
	text = cut(text, MaxShort)
	var b strings.Builder
	done := 0
	for i := 1; i < len(text); i++ {
		if begins(text, i) {
			if done == 0 {
				b.WriteString(text)
				b.WriteByte(' ')
			}
			b.WriteString(text[done:i])
			b.WriteByte(' ')
			done = i
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// begins reports whether a word begins at i within an identifier: a capital after a small
// letter, or the last of several capitals before a small letter.
func begins(text string, i int) bool {
	return capital(text[i]) &&
		(small(text[i-1]) || capital(text[i-1]) && i+1 < len(text) && small(text[i+1]))
}

func capital(c byte) bool { return 'A' <= c && c <= 'Z' }
func small(c byte) bool   { return 'a' <= c && c <= 'z' }
