package document

import (
	"bytes"
	"cmp"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/net/html"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/office"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/ole"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/pdf"
)

// Sniff returns the media type of a body, in lower case and without parameters. The Content-Type of
// the response decides whether Sniff takes the type from the Content-Type or from the bytes:
//
//	Content-Type                    media type
//	none                            from the bytes
//	generic, such as octet-stream   from the bytes; if they are plain text or unknown: from the Content-Type
//	PDF or office document          from the bytes
//	text or markup                  from the Content-Type; if the bytes are binary: from the bytes
//	other                           from the Content-Type
//
// The bytes are examined as in the WHATWG MIME Sniffing standard (7 and 8). A zip or OLE file that is
// an office document has the type of this document. An empty body has the type in the Content-Type,
// or text/plain without one.
func Sniff(body []byte, contentType string) string {
	claimed := mediaType(contentType)
	if len(body) == 0 {
		set(&claimed, "text/plain")
		return claimed
	}
	switch {
	case isGeneric(claimed), isDocument(claimed):
		found := recognise(body, claimed)
		if isGeneric(claimed) && claimed != "" && (found == octets || found == "text/plain") {
			return claimed // bytes that look like text may still be of the claimed format
		}
		return found
	case IsText(claimed):
		if found := recognise(body, claimed); !IsText(found) && !strings.HasPrefix(known(charsetOf(contentType)), "utf-16") {
			return found
		}
	}
	return claimed
}

const octets = "application/octet-stream"

// recognise returns the media type that it finds in the bytes of a body. If the claimed type is
// PDF, it also finds a PDF file that begins after junk, within the first maxJunk bytes.
func recognise(body []byte, claimed string) string {
	start := body[:min(len(body), maxSniffed)]
	if claimed == pdf.MediaType && bytes.Contains(body[:min(len(body), maxJunk)], []byte("%PDF-")) {
		return pdf.MediaType
	}
	switch found := mediaType(http.DetectContentType(start)); {
	case bytes.HasPrefix(start, []byte(`{\rtf`)):
		return "application/rtf"
	case found == "application/zip":
		if media := office.Type(body); media != "" {
			return media
		}
		return found
	case found == octets && bytes.HasPrefix(start, []byte(ole.Magic)):
		return ole.Type(body)
	default:
		return found
	}
}

// mediaType returns the media type in a Content-Type, in lower case and without parameters.
func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// IsText reports whether a media type is that of text with or without markup: HTML, XHTML, plain
// text, Markdown or XML.
func IsText(media string) bool {
	switch media {
	case "text/html", "application/xhtml+xml", "text/xml", "application/xml":
		return true
	}
	if isPlain(media) {
		return true
	}
	return strings.HasSuffix(media, "+xml") && !strings.HasPrefix(media, "image/")
}

// isPlain reports whether a media type is that of text in which "<" begins no markup. Markdown counts as such: people
// read it as it is (RFC 7763).
func isPlain(media string) bool { return media == "text/plain" || media == "text/markdown" }

// isDocument reports whether a media type is PDF or an office format that this package
// reads.
func isDocument(media string) bool {
	return media == pdf.MediaType || office.Is(media) || ole.Is(media)
}

// isGeneric reports whether a media type does not tell the format of a body: it is missing, or
// stands for any bytes, or for an archive or container in which a document may be.
func isGeneric(media string) bool {
	switch media {
	case "", octets, "binary/octet-stream", "application/x-download", "application/download", "application/force-download",
		"unknown/unknown", "application/unknown", "*/*", "application/zip", "application/x-zip-compressed", ole.Other, "application/vnd.ms-office":
		return true
	}
	return false
}

// IsReadable reports whether this package can read pages of a media type. The crawler stores only
// such pages.
func IsReadable(media string) bool { return IsText(media) || isDocument(media) }

// MayBeReadable reports whether the body of a response with the given Content-Type may be a page
// that this package can read. If not, the body need not be fetched.
func MayBeReadable(contentType string) bool {
	media := mediaType(contentType)
	return IsReadable(media) || isGeneric(media)
}

// Searchable reports whether a stored page has text for the index: its body is not empty, and this
// package can read its media type. Whether the page forbids indexing (noindex) is not looked at.
func Searchable(body []byte, contentType string) bool {
	return len(body) > 0 && IsReadable(Sniff(nil, contentType))
}

const utf8Name = "utf-8"

var byteOrderMarks = []struct{ mark, charset string }{
	{"\xEF\xBB\xBF", utf8Name},
	{"\xFE\xFF", "utf-16be"},
	{"\xFF\xFE", "utf-16le"},
}

// Decode returns the body as valid UTF-8 without a byte order mark, and the WHATWG name of
// the charset in which it was read. The charset is the first of these that is known:
//
//	that of the byte order mark
//	that of the Content-Type, unless the bytes refute it
//	that of the meta element or XML declaration, unless the bytes refute it
//	UTF-8, if the body is valid UTF-8
//	a guess from the bytes
//
// The result refuted is the declared charset that was rejected because of the bytes, or "" if none
// was. Bytes that are invalid in the charset become U+FFFD. The text may share memory with body.
func Decode(body []byte, contentType string) (text []byte, charset, refuted string) {
	for _, m := range byteOrderMarks {
		if rest, found := bytes.CutPrefix(body, []byte(m.mark)); found {
			return decode(rest, m.charset), m.charset, ""
		}
	}
	valid := utf8.Valid(body)
	for _, charset := range []string{known(charsetOf(contentType)), declared(body)} {
		switch {
		case charset == "":
		case charset == utf8Name && !valid && !isMostlyUTF8(body):
			refuted = charset
		case isSingleByte(charset) && valid && !isASCII(body):
			refuted = charset
		case strings.HasPrefix(charset, "utf-16") && valid && bytes.IndexByte(body, 0) < 0: // real UTF-16 markup would have zero bytes
			refuted = charset
		default:
			return decode(body, charset), charset, refuted
		}
	}
	if valid {
		return body, utf8Name, ""
	}
	charset = detect(body)
	if charset == refuted {
		refuted = ""
	}
	return decode(body, charset), charset, refuted
}

// isSingleByte reports whether a charset is one of the families ISO 8859 and windows-125x, whose characters are single
// bytes. Servers often declare one of them for all pages alike. A text in it is hardly ever valid UTF-8 by chance, unless
// it is ASCII.
func isSingleByte(charset string) bool {
	return strings.HasPrefix(charset, "windows-125") || strings.HasPrefix(charset, "iso-8859-")
}

// isMostlyUTF8 reports whether a body has at least as many valid characters beyond ASCII as bytes
// that are invalid in UTF-8. Such a page is in UTF-8 with some bad bytes, and not in another
// charset.
func isMostlyUTF8(body []byte) bool {
	whole, broken := 0, 0
	for len(body) > 0 {
		r, size := utf8.DecodeRune(body)
		switch {
		case size > 1:
			whole++
		case r == utf8.RuneError:
			broken++
		}
		body = body[size:]
	}
	return whole >= broken
}

// decode converts a body from the charset to valid UTF-8. Invalid bytes become U+FFFD.
func decode(body []byte, charset string) []byte {
	if charset != utf8Name {
		if e, err := htmlindex.Get(charset); err == nil {
			if text, err := e.NewDecoder().Bytes(body); err == nil {
				body = text
			}
		}
	}
	if utf8.Valid(body) {
		return body
	}
	return bytes.ToValidUTF8(body, []byte("\uFFFD"))
}

// known returns the WHATWG name of a charset by its label: "windows-1252" for "latin1", or "" for
// an unknown label.
func known(label string) string {
	e, err := htmlindex.Get(label)
	if err != nil || e == encoding.Replacement {
		return ""
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return ""
	}
	return name
}

// charsetOf returns the charset parameter of a Content-Type as it is written; "" if there is none.
func charsetOf(contentType string) string {
	if _, parameters, err := mime.ParseMediaType(contentType); err == nil {
		return strings.Trim(parameters["charset"], " '")
	}
	_, label, _ := strings.Cut(strings.ToLower(contentType), "charset=")
	label, _, _ = strings.Cut(label, ";")
	return strings.Trim(label, " \t\"'")
}

// declared returns the charset of the <meta charset>, <meta http-equiv=content-type> or <?xml
// encoding?> at the beginning of the body; "" if there is none.
func declared(body []byte) string {
	z := html.NewTokenizer(bytes.NewReader(body[:min(len(body), maxPrescan)]))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.CommentToken: // an XML declaration is a bogus comment in HTML
			if label := xmlEncoding(string(z.Text())); label != "" {
				return label
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if label := metaCharset(z); label != "" {
				return label
			}
		}
	}
}

// xmlEncoding returns the charset of an XML declaration, or "".
func xmlEncoding(declaration string) string {
	if !strings.HasPrefix(declaration, "?xml") {
		return ""
	}
	_, label, _ := strings.Cut(declaration, "encoding=")
	if label == "" {
		return ""
	}
	label, _, _ = strings.Cut(label[1:], label[:1])
	return noUTF16(known(label))
}

// metaCharset returns the charset that the tokenizer's current tag declares, or "" if the tag is no
// meta element or declares none.
func metaCharset(z *html.Tokenizer) string {
	name, more := z.TagName()
	if string(name) != "meta" {
		return ""
	}
	var label, content string
	pragma := false // the content attribute is that of a Content-Type header
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "charset":
			set(&label, string(value))
		case "content":
			set(&content, charsetOf(string(value)))
		case "http-equiv":
			pragma = strings.EqualFold(strings.TrimSpace(string(value)), "content-type")
		}
	}
	if pragma {
		set(&label, content)
	}
	return noUTF16(known(label))
}

// noUTF16 returns the charset in which to read a page whose markup declares the given charset.
// This is UTF-8 if UTF-16 is declared: a page cannot be in UTF-16 if its declaration could be read
// as ASCII (WHATWG HTML, 13.2.3.2). Any other charset is returned as it is.
func noUTF16(charset string) string {
	if strings.HasPrefix(charset, "utf-16") {
		return utf8Name
	}
	return charset
}

// detect guesses the charset of a body from its bytes; windows-1252 if there is no better guess. Of
// equally likely charsets it returns the first by name, because chardet returns them in a random
// order.
func detect(body []byte) string {
	first := bytes.IndexFunc(body, func(r rune) bool { return r >= utf8.RuneSelf })
	telling := body[max(0, first-maxDetected/2):] // ASCII bytes are the same in most charsets
	likely, err := chardet.NewHtmlDetector().DetectAll(telling[:min(len(telling), maxDetected)])
	if err != nil {
		return "windows-1252"
	}
	slices.SortFunc(likely, func(a, b chardet.Result) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), strings.Compare(a.Charset, b.Charset))
	})
	for _, one := range likely {
		if charset := known(one.Charset); charset != "" {
			return charset
		}
	}
	return "windows-1252"
}
