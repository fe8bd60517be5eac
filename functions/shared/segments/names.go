package segments

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// separators are the texts that stand between the name of a page and that of its site in titles.
var separators = []string{" | ", " — ", " – ", " - ", " · ", " • ", " » ", " « ", " :: ", ": "}

const (
	// leastSharing is the least number of pages of a site that share the beginning or end of their
	// titles, if this is to count as the site's name.
	leastSharing = 3
	// sharing is the least share of such pages among all pages of the site: one in so many.
	sharing = 4
)

// titleParts holds the beginnings and ends of the titles of pages, each up to a separator, with the number
// of pages that have it.
type titleParts struct {
	pages map[string]int    // number of pages by site
	parts map[siteAffix]int // number of pages with a beginning or end of the title
}

// siteAffix is the beginning or the end of titles of pages of a site.
type siteAffix struct {
	site, text string
	isEnd      bool
}

// setNames sets the name of each page: its title without the name of its site. This is
//
//	the first heading            if the title is the heading and more, with a separator between, and
//	                             this heading is not the name of the site
//	the title without a part     if several pages of the site begin or end with this part, and a
//	                             separator; the longest such part
//	the title                    otherwise
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

// isShared reports whether so many titles of the site begin or end with the text that it counts as the
// site's name.
func (t *titleParts) isShared(a siteAffix) bool {
	n := t.parts[a]
	return n >= leastSharing && n*sharing >= t.pages[a.site]
}

// eachAffix calls the function do for each beginning and end of a page's title, up to or from a separator,
// with the rest of the title.
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
