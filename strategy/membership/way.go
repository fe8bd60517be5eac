package membership

import "github.com/bucketsearch/bucketsearch/layout/book"

// Way is how a collection comes to a URL: by a link, or none to a seed.
type Way struct {
	Collection string
	Kind       book.Kind
	Depth      uint16 // links from a seed
	Hops       uint8  // redirects since the last link
	Weight     uint8  // see book.Link
}

// WayOf returns the way that a link is.
func WayOf(l book.Link) Way { return Way{l.Collection, l.Kind, l.Depth, l.Hops, l.Weight} }

// Bands is the number of queues of a host, of which the first is asked first.
const Bands = 16

// Band returns the queue in which a URL waits: that of its weight or, if it has
// none, of its depth. The scripts of the frontier say the same.
func Band(depth uint16, weight uint8) int {
	if weight == 0 {
		return int(min(depth, Bands-1))
	}
	return Bands - 1 - int(weight)/(256/Bands)
}

func (w Way) band() int { return Band(w.Depth, w.Weight) }

// Best is what counts of the ways by which a collection comes to a URL, whatever
// the order in which they are added: the depth and redirects of the shortest,
// and the weight of the one that has it asked for first. Of ways to a sitemap
// and to a page those to the sitemap count: one that pages link to is still one.
type Best struct {
	Way
	band  int // of the way from which the weight comes
	known bool
}

// Add adds a way that is admitted.
func (b *Best) Add(w Way) {
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
		b.Way = w
	}
	b.Weight, b.band = weight, band
}
