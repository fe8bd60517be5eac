package document

import (
	"bytes"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/style"
)

// byteOrderMark is the byte order mark of UTF-8. A browser reads a page that begins with it as
// UTF-8, whatever charset is declared.
const byteOrderMark = "\xEF\xBB\xBF"

// Rewrite returns a copy of an HTML page or a style sheet in which each address is replaced by the
// result of replace. All other bytes stay as they are, with two exceptions. Attributes that would
// keep browsers from showing the copy get the prefix data- (see hypertext.Rewriter.Detach). And a
// page is converted to UTF-8, with a byte order mark, if the page itself does not declare its
// charset, or if a byte that looks like markup need not be markup in this charset, as in
// ISO-2022-JP. A body of another media type is returned unchanged.
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
