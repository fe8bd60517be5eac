package segments

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// separators are the texts that stand in titles between the name of a page and the name of its site.
var separators = []string{" | ", " — ", " – ", " - ", " · ", " • ", " » ", " « ", " :: ", ": "}

const (
	// leastSharing is the least number of pages of a site whose titles must begin or end with the same text, so
	// that this text counts as the name of the site.
	leastSharing = 3
	// sharing says which share of the site's pages these must be: at least one in 4.
	sharing = 4
)

// titleParts counts the beginnings and ends of titles. The title "VACUUM: Manual: PostgreSQL" has the beginnings
// VACUUM and VACUUM: Manual, and the ends PostgreSQL and Manual: PostgreSQL.
type titleParts struct {
	pages map[string]int    // number of pages that get a name, by site
	parts map[siteAffix]int // number of pages whose titles have this beginning or end
}

// siteAffix is the beginning or the end of titles of pages of a site.
type siteAffix struct {
	site, text string
	isEnd      bool
}

// setNames sets the name of each page: its title without the name of its site. The first of these that there is
// becomes the name:
//
//	the first heading            if the title consists of it, a separator and another text, unless the
//	                             heading is the name of the site
//	the title without a part     if the title begins or ends with this part and a separator, and several
//	                             pages of the site do so (see isShared); of several parts the longest
//	the title
//
// A page that is not stored, or that searches must not find, gets no name.
func setNames(pages []*Page) {
	shared := titleParts{pages: make(map[string]int), parts: make(map[siteAffix]int)}
	for _, p := range pages {
		if isNamed(p) {
			shared.pages[p.Site]++
			eachAffix(p, func(a siteAffix, _ string) { shared.parts[a]++ })
		}
	}
	for _, p := range pages {
		if p.Name = ""; isNamed(p) {
			p.Name = shared.name(p)
		}
	}
}

func isNamed(p *Page) bool { return !p.Silent && p.Title != "" && p.Package != "" }

// name returns the name of a page.
func (t *titleParts) name(p *Page) string {
	name, cut := p.Title, 0 // cut is the size of what was taken off
	heading := ""
	if len(p.Headings) > 0 {
		heading = segment.FoldSuggestion(p.Headings[0])
	}
	byHeading := ""
	eachAffix(p, func(a siteAffix, rest string) {
		if segment.FoldSuggestion(rest) == heading && !t.isShared(siteAffix{p.Site, rest, !a.isEnd}) {
			byHeading = rest
		}
		if len(a.text) > cut && t.isShared(a) {
			name, cut = rest, len(a.text)
		}
	})
	if byHeading != "" {
		return byHeading
	}
	return name
}

// isShared reports whether a text counts as the name of a site, because many titles of the site begin or end with
// it: those of at least leastSharing pages, which are at least a quarter of the site's pages (see sharing).
func (t *titleParts) isShared(a siteAffix) bool {
	n := t.parts[a]
	return n >= leastSharing && n*sharing >= t.pages[a.site]
}

// eachAffix calls the function do for each text with which a page's title begins before a separator, or ends
// behind a separator. The parameter rest of do is the rest of the title, on the other side of the separator.
func eachAffix(p *Page, do func(a siteAffix, rest string)) {
	for _, separator := range separators {
		for from := 0; ; {
			at := strings.Index(p.Title[from:], separator)
			if at < 0 {
				break
			}
			before, after := p.Title[:from+at], p.Title[from+at+len(separator):]
			if strings.TrimSpace(before) != "" && strings.TrimSpace(after) != "" {
				do(siteAffix{p.Site, before, false}, after)
				do(siteAffix{p.Site, after, true}, before)
			}
			from += at + len(separator)
		}
	}
}
