package web

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// crumbs returns the parts of an address as they are shown: the host, the parts of the path, and the query
// with its question mark. Percent-encoding is decoded, so that %C3%A9 becomes é. A part stays encoded if it
// would contain characters that are invisible or change the direction of text. Example:
// https://example.org/caf%C3%A9/menu?day=1 gives example.org, café, menu and ?day=1. Of a mail address,
// such as mailto:jane@example.org, the only part is jane@example.org.
func crumbs(address string) []string {
	if mail, is := strings.CutPrefix(address, "mailto:"); is {
		return []string{mail}
	}
	_, rest, _ := strings.Cut(address, "://")
	path, query, _ := strings.Cut(rest, "?")
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" {
			parts = append(parts, readable(part))
		}
	}
	if query != "" {
		parts = append(parts, "?"+readable(query))
	}
	return parts
}

func readable(encoded string) string {
	decoded, err := url.PathUnescape(encoded)
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if err != nil || !utf8.ValidString(decoded) || strings.ContainsFunc(decoded, hidden) {
		return encoded
	}
	return decoded
}

// crumbsShown is the greatest number of parts of an address that are shown.
const crumbsShown = 5

// elided returns the parts of an address without those in the middle, if there are more than crumbsShown:
// the host, "…", and the last parts.
func elided(parts []string) []string {
	if len(parts) <= crumbsShown {
		return parts
	}
	return slices.Concat(parts[:1], []string{"…"}, parts[len(parts)-crumbsShown+2:])
}
