package web

import (
	"strings"
	"unicode"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// separators stand between the title of a page and the name of its site.
var separators = []string{" | ", " - ", " – ", " — ", " · ", " • ", " :: ", " » "}

// suffixOf returns the end of a title from its last separator on; "" if it has none, or if nothing would
// be left of the title.
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

// siteSuffixes returns the name of each site with which titles of its pages end, such as " | Qt 5.15".
// Such an end is taken for the site's name if two different titles of the site have it, or if the site's
// address has it, as example.org has Example.
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

// isNameOf reports whether the letters of a suffix are one of the parts of a site's address.
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

// withoutSuffix returns a title without its last characters, if these are the given ones.
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
