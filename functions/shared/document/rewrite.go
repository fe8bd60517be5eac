package document

import (
	"bytes"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/style"
)

// byteOrderMark makes every browser read what follows as UTF-8.
const byteOrderMark = "\xEF\xBB\xBF"

// Rewrite returns a page in HTML, or a style sheet, in which each address is replaced by
// what replace returns. Other bodies, and bytes that are no address, stay as they are,
// with one exception: a page that does not declare its charset itself is shown as its
// server declared it, by a byte order mark. For that it becomes UTF-8, as do pages in
// charsets in which markup cannot be read byte by byte.
func Rewrite(body []byte, contentType string, replace func(hypertext.Address) string) []byte {
	media := Sniff(body, contentType)
	if media == styleSheet {
		return style.Rewrite(body, func(url string, isSheet bool) string {
			return replace(hypertext.Address{URL: url, Use: hypertext.ToAsset, Rel: sheetRel(isSheet)})
		})
	}
	if !isHTML(media) {
		return body
	}
	w := hypertext.Rewriter{Replace: replace, Detach: true}
	text, charset, _ := Decode(body, contentType)
	marked := len(body) > 0 && bytes.HasPrefix(body, []byte(byteOrderMark))
	switch isDeclared := marked || declared(body) == charset; {
	case charset == utf8Name && (isDeclared || isASCII(body)):
		return w.Rewrite(body)
	case charset == utf8Name:
		return append([]byte(byteOrderMark), w.Rewrite(body)...)
	case isDeclared && charset != "iso-2022-jp":
		w.Decode = func(value []byte) []byte { return decode(value, charset) }
		return w.Rewrite(body)
	}
	return append([]byte(byteOrderMark), w.Rewrite(text)...)
}

func isASCII(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r > 0x7F })
}
