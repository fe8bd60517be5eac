package document

import (
	"net/http"
	"strings"
)

// Sniff returns the media type of a body, lower case and without parameters:
// what the Content-Type says unless it is missing or says text where there is
// none (binary data served as HTML).
func Sniff(body []byte, contentType string) string {
	claimed := mediaType(contentType)
	if claimed != "" && !IsText(claimed) {
		return claimed
	}
	found := mediaType(http.DetectContentType(body[:min(len(body), maxSniffed)]))
	switch {
	case claimed == "" || len(body) == 0:
		if claimed == "" {
			return found
		}
		return claimed
	case IsText(found), strings.HasPrefix(known(charsetOf(contentType)), "utf-16"):
		return claimed
	default:
		return found
	}
}

func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// IsText reports whether pages of a media type are stored: HTML, XHTML, plain
// text and XML.
func IsText(media string) bool {
	switch media {
	case "text/html", "application/xhtml+xml", "text/plain", "text/xml", "application/xml":
		return true
	}
	return strings.HasSuffix(media, "+xml") && !strings.HasPrefix(media, "image/")
}

// Searchable reports whether a stored page becomes a document of the index.
func Searchable(body []byte, contentType string) bool {
	return len(body) > 0 && IsText(Sniff(nil, contentType))
}
