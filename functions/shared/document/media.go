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

// Sniff returns the media type of a body, lower case and without parameters:
// what the Content-Type says unless the bytes belie it. That is so where it
// says nothing or as good as nothing, where it says text and there is none
// (binary data served as HTML), and where it names a document of a format that
// the bytes are not of. Else bytes that belie it are those that the WHATWG MIME
// Sniffing standard recognises (7 and 8).
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
			return claimed // text that nobody calls so may be anything
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

// recognise returns the media type that a body looks like.
func recognise(body []byte, claimed string) string {
	start := body[:min(len(body), maxSniffed)]
	if claimed == pdf.MediaType && bytes.Contains(body[:min(len(body), maxJunk)], []byte("%PDF-")) {
		return pdf.MediaType // after what does not belong there
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

func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// IsText reports whether a media type is of text with or without markup: HTML,
// XHTML, plain text and XML.
func IsText(media string) bool {
	switch media {
	case "text/html", "application/xhtml+xml", "text/plain", "text/xml", "application/xml":
		return true
	}
	return strings.HasSuffix(media, "+xml") && !strings.HasPrefix(media, "image/")
}

// isDocument reports whether a media type is of another format that is read.
func isDocument(media string) bool {
	return media == pdf.MediaType || office.Is(media) || ole.Is(media)
}

// isGeneric reports whether a media type says no more than that there are
// bytes, or an archive or container, in which documents lie.
func isGeneric(media string) bool {
	switch media {
	case "", octets, "binary/octet-stream", "application/x-download", "application/download", "application/force-download",
		"unknown/unknown", "application/unknown", "*/*", "application/zip", "application/x-zip-compressed", ole.Other, "application/vnd.ms-office":
		return true
	}
	return false
}

// IsReadable reports whether pages of a media type are read, and so stored.
func IsReadable(media string) bool { return IsText(media) || isDocument(media) }

// MayBeReadable reports whether a response with a Content-Type is worth its
// bytes: whether they may be a page that is read.
func MayBeReadable(contentType string) bool {
	media := mediaType(contentType)
	return IsReadable(media) || isGeneric(media)
}

// Searchable reports whether a stored page is found by its words, unless it asks
// not to be.
func Searchable(body []byte, contentType string) bool {
	return len(body) > 0 && IsReadable(Sniff(nil, contentType))
}

const utf8Name = "utf-8"

var byteOrderMarks = []struct{ mark, charset string }{
	{"\xEF\xBB\xBF", utf8Name},
	{"\xFE\xFF", "utf-16be"},
	{"\xFF\xFE", "utf-16le"},
}

// Decode returns the body as valid UTF-8 without a byte order mark, and the
// WHATWG name of the charset that it was read in: that of its byte order mark,
// else of the Content-Type, else of its meta element or XML declaration, else
// UTF-8 if it is valid, else what its bytes look like. A declared charset that the
// bytes refute does not count; it is the third result. Bytes that the charset
// does not have become U+FFFD. The text may share memory with body.
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
		case strings.HasPrefix(charset, "utf-16") && valid && bytes.IndexByte(body, 0) < 0: // markup would have zero bytes
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

// isMostlyUTF8 reports whether of the characters beyond ASCII at most half are broken:
// a page in UTF-8 with some bad bytes, and not one in another charset.
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

// known returns the WHATWG name behind a label, or "" if there is none.
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

func charsetOf(contentType string) string {
	if _, parameters, err := mime.ParseMediaType(contentType); err == nil {
		return strings.Trim(parameters["charset"], " '")
	}
	_, label, _ := strings.Cut(strings.ToLower(contentType), "charset=")
	label, _, _ = strings.Cut(label, ";")
	return strings.Trim(label, " \t\"'")
}

// declared looks for <meta charset>, <meta http-equiv=content-type> and <?xml
// encoding?> at the beginning of the body.
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

func metaCharset(z *html.Tokenizer) string {
	name, more := z.TagName()
	if string(name) != "meta" {
		return ""
	}
	var label, content string
	pragma := false // the content is that of a Content-Type header
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

// noUTF16 corrects a declaration that could not have been read in the charset
// that it declares (WHATWG HTML, 13.2.3.2).
func noUTF16(charset string) string {
	if strings.HasPrefix(charset, "utf-16") {
		return utf8Name
	}
	return charset
}

// detect returns the charset that the bytes look like. Of equally likely ones the
// first by name counts: chardet's order of them changes from call to call.
func detect(body []byte) string {
	first := bytes.IndexFunc(body, func(r rune) bool { return r >= utf8.RuneSelf })
	telling := body[max(0, first-maxDetected/2):] // ASCII tells nothing
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
