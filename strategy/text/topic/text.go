package topic

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// cut returns the beginning of a text: as many whole characters as fit in limit bytes.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// addressWords returns the part of an address that may contain words: the address without
// scheme and file extension, and with its percent-encoding decoded.
func addressWords(address string) string {
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

// splitIdentifiers returns the first MaxShort bytes of a text. If they contain identifiers,
// the same text follows once more, with the words of the identifiers separated:
// "QXmlReader" becomes "QXmlReader Q Xml Reader".
func splitIdentifiers(text string) string {
	text = cut(text, MaxShort)
	var b strings.Builder
	done := 0
	for i := 1; i < len(text); i++ {
		if startsWord(text, i) {
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

// startsWord reports whether a word of an identifier begins at offset i, which must not be
// 0: at a capital after a small letter (the R in XmlReader), or at the last of several
// capitals before a small letter (the R in XMLReader).
func startsWord(text string, i int) bool {
	return isUpper(text[i]) &&
		(isLower(text[i-1]) || isUpper(text[i-1]) && i+1 < len(text) && isLower(text[i+1]))
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
