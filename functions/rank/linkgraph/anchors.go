package linkgraph

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Anchor is a text by which links name a page.
type Anchor struct {
	Text  string
	Sites int // number of sites with links that have this text
	Links int // number of links that have this text
}

const (
	// maxAnchors is the greatest number of a page's anchors, which are texts of links to the page.
	maxAnchors = 32
	// maxTexts is the greatest number of different texts that are kept of the links to a page. The
	// page's anchors are chosen among them.
	maxTexts = 4096
)

// Anchors are the texts of links to one page: those that the most sites use.
type Anchors struct {
	All []Anchor // the anchors, at most 32, sorted by falling Sites, then by falling Links
	Cut int      // number of other texts of links to the page, which were left out
}

// isNaming reports whether the text of the links in a row of a book can be an anchor of the page to
// which they lead. For this, the text must not be empty. The links must be of kind Anchor, must not
// have disappeared from their pages since, and must not be nofollow, ugc or sponsored.
func isNaming(row *book.Row) bool {
	return !row.Former && row.Kind == book.Anchor && row.Anchor != "" && counts(row.Rel)
}

// voters describes the links of one row of a book (see book.Row): how many they are, and from which
// sites they come, perhaps with repetitions. All links of a row lead to the same target. Three
// kinds are not counted: links from pages that are not in the graph, links from the target to
// itself, and links in the navigation of the target's own site.
//
// The parameter target is the number of the target page; for a URL without a page, it is the constant
// unknown. The parameter site is the number of the target's site. A row of a book does not name the
// pages that have the links, but gives their positions in a table. The parameter sources is this
// table: it has the number of each of these pages.
func (r *reading) voters(row *book.Row, sources []number, target number, site uint32) (v voters) {
	for _, k := range row.Sources {
		source := sources[k]
		if !source.isPage() || source == target {
			continue
		}
		from := r.graph.sites[source]
		if row.Region == book.Navigation && from == site {
			continue
		}
		v.links++
		if last := len(v.sites) - 1; last < 0 || v.sites[last] != from {
			v.sites = append(v.sites, from)
		}
	}
	return v
}

// voters describes links with the same text to the same page: how many they are, and from which
// sites they come.
type voters struct {
	sites []uint32
	links int
}

// texts holds the texts of the links to one page. For each text it describes the links with this
// text.
type texts struct {
	of  map[string]*voters
	cut int // number of texts left out because there were already maxTexts of them
}

// add adds links to the page, all with the same text. The parameter more describes these links.
func (t *texts) add(text string, more voters) {
	known := t.of[text]
	switch {
	case known == nil && len(t.of) == maxTexts:
		t.cut++
	case known == nil:
		t.of[text] = &more
	default:
		known.sites, known.links = append(known.sites, more.sites...), known.links+more.links
	}
}

// anchors returns the anchors of the page: of all texts of links to it, those that the most sites
// use, at most maxAnchors.
func (t *texts) anchors() (a Anchors) {
	for text, n := range t.of {
		slices.Sort(n.sites)
		a.All = append(a.All, Anchor{Text: text, Sites: len(slices.Compact(n.sites)), Links: n.links})
	}
	slices.SortFunc(a.All, func(b, c Anchor) int {
		return cmp.Or(cmp.Compare(c.Sites, b.Sites), cmp.Compare(c.Links, b.Links), cmp.Compare(b.Text, c.Text))
	})
	a.Cut = t.cut + max(0, len(a.All)-maxAnchors)
	a.All = a.All[:min(len(a.All), maxAnchors)]
	return a
}
