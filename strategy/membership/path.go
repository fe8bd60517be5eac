package membership

import "github.com/bucketsearch/bucketsearch/layout/book"

// Path is the path from a seed of a collection to a URL, with its last link; a seed
// itself has no link.
type Path struct {
	Collection string
	Kind       book.Kind
	Depth      uint16 // links from a seed
	Hops       uint8  // redirects since the last link
	Weight     uint8  // see book.Link
}

// PathOf returns the path that ends with a link.
func PathOf(l book.Link) Path { return Path{l.Collection, l.Kind, l.Depth, l.Hops, l.Weight} }

// Bands is the number of queues of a host. The first is requested first.
const Bands = 16

// Band returns the queue of a URL: by its weight or, without a weight, by its depth.
// The scripts of the frontier compute the same.
func Band(depth uint16, weight uint8) int {
	if weight == 0 {
		return int(min(depth, Bands-1))
	}
	return Bands - 1 - int(weight)/(256/Bands)
}

func (w Path) band() int { return Band(w.Depth, w.Weight) }

// Best joins the paths of a collection to a URL, in whatever order they are added:
// the depth and redirects of the shortest, and the weight of the earliest band. When
// some paths say that the URL is a sitemap, only those count: a sitemap to which
// pages link is still a sitemap.
type Best struct {
	Path
	band  int // of the path from which the weight comes
	known bool
}

// Add adds an admitted path to those that are joined.
func (b *Best) Add(w Path) {
	isSitemap := w.Kind == book.Sitemap
	if !b.known || isSitemap && b.Kind != book.Sitemap {
		*b = Best{w, w.band(), true}
		return
	}
	if !isSitemap && b.Kind == book.Sitemap {
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
