package membership

import "github.com/bucketsearch/bucketsearch/layout/book"

// Path describes a chain of links that leads from a seed of a collection to a URL.
type Path struct {
	Collection string
	Kind       book.Kind // kind of the last link; 0 for a seed
	Depth      uint16    // number of links from a seed to the URL
	Hops       uint8     // number of redirects that led from the target of the last link to the URL
	Weight     uint8     // priority of the URL: 255 is requested first, 1 last; 0: it has none, and the depth decides
}

// PathOf returns the path that leads from a seed to the target of the link l, and has l as its last
// link. The other links of the path are not needed: l itself has the path's collection, depth,
// redirects and weight.
func PathOf(l book.Link) Path { return Path{l.Collection, l.Kind, l.Depth, l.Hops, l.Weight} }

// Rank returns the rank of a path whose last link is of the given kind: 0 if it leads to a sitemap,
// 1 if to a page, 2 if to an asset (an image, style sheet, font or script of a page). If several
// paths lead to a URL, the path of the lowest rank says what kind of URL it is: a sitemap to which
// pages link, too, is still a sitemap.
func Rank(last book.Kind) int {
	switch last {
	case book.Sitemap:
		return 0
	case book.Asset:
		return 2
	}
	return 1
}

// Bands is the number of bands. A band is a level of priority of URLs that are not stored yet;
// on each host, URLs in band 0 are requested first.
const Bands = 16

// Band returns the band of a URL: by its weight or, if that is 0, by its depth. The
// scripts of the frontier compute the same.
func Band(depth uint16, weight uint8) int {
	if weight == 0 {
		return int(min(depth, Bands-1))
	}
	return Bands - 1 - int(weight)/(256/Bands)
}

func (w Path) band() int { return Band(w.Depth, w.Weight) }

// Best joins several paths of a collection to one URL. Their order does not matter. Only the
// paths of the lowest rank count (see Rank). Best has the depth and redirects of the shortest of
// these paths, and the weight of the path with the earliest band (priority).
type Best struct {
	Path
	band  int  // band of the path from which Weight was taken
	known bool // at least one path was added
}

// Add adds a path to those that b joins. The caller adds only paths by which the collection admits
// the URL.
func (b *Best) Add(w Path) {
	if !b.known || Rank(w.Kind) < Rank(b.Kind) {
		*b = Best{w, w.band(), true}
		return
	}
	if Rank(w.Kind) > Rank(b.Kind) {
		return
	}
	weight, band := b.Weight, b.band
	if own := w.band(); own < band || own == band && w.Weight > weight {
		weight, band = w.Weight, own
	}
	if w.Depth < b.Depth || w.Depth == b.Depth && w.Hops < b.Hops {
		b.Path = w
	}
	b.Weight, b.band = weight, band
}
