package web

import (
	"strings"
	"unicode"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// separators stand between the title of a page and the name of its site.
var separators = []string{" | ", " - ", " – ", " — ", " · ", " • ", " :: ", " » "}

// suffixOf returns the end of a title from its last separator on, such as " | Example". The result is "" if
// the title has no separator, or begins with its only one.
func suffixOf(title string) string {
	last := 0
	for _, sign := range separators {
		last = max(last, strings.LastIndex(title, sign))
	}
	if last <= 0 {
		return ""
	}
	return title[last:]
}

// siteSuffixes finds the names of sites at the end of titles, with the separator before them, such as " |
// Example". The result has the end by site. An end counts as the name of the site if two different titles of
// the site have it, or if it is a part of the host: " | Example" for example.org.
func siteSuffixes(hits []search.Hit) map[string]string {
	type end struct{ site, suffix string }
	first := make(map[end]string) // the first title with the end
	names := make(map[string]string)
	for _, h := range hits {
		title := engine.Plain(h.MarkedTitle)
		suffix := suffixOf(title)
		if suffix == "" {
			continue
		}
		key := end{h.Site, suffix}
		other, seen := first[key]
		if !seen {
			first[key] = title
		}
		if seen && other != title || isNameOf(suffix, h.Site) {
			names[h.Site] = suffix
		}
	}
	return names
}

// isNameOf reports whether a suffix names a site: its letters and digits are the same as one of the parts of
// the host between dots, without hyphens.
func isNameOf(suffix, site string) bool {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, suffix)
	for part := range strings.SplitSeq(site, ".") {
		if part != "" && strings.ReplaceAll(part, "-", "") == name {
			return true
		}
	}
	return false
}

// withoutSuffix returns a title without the given suffix. A title that does not end with it is returned
// unchanged.
func withoutSuffix(title []search.Fragment, suffix string) (cut []search.Fragment) {
	text := engine.Plain(title)
	rest, found := strings.CutSuffix(text, suffix)
	if !found || suffix == "" {
		return title
	}
	left := len(rest)
	for _, f := range title {
		if left == 0 {
			break
		}
		f.Text = f.Text[:min(len(f.Text), left)]
		left -= len(f.Text)
		cut = append(cut, f)
	}
	return cut
}
