package document

import (
	"bytes"
	"net/http"
	"strings"

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
