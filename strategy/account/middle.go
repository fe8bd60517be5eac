package account

import (
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Middle returns a place that divides ranges of the hash space in two halves, each with about half of what the books
// have about URLs in the ranges, in bytes. The place is the beginning of a site, so that no site is divided. The
// ranges must be in ascending order. The result found is false if they have places of one site only.
func (b *Bucket) Middle(ranges []layout.Range) (at layout.Place, found bool) {
	if len(ranges) == 0 {
		return 0, false
	}
	first, last := uint64(ranges[0].From.Site())+1, uint64((ranges[len(ranges)-1].To - 1).Site())
	if first > last {
		return 0, false
	}
	var parts []book.Part
	for _, within := range ranges {
		parts = append(parts, book.Part{Range: within, Bytes: 1}) // counts only where books have next to nothing
		for _, v := range b.books {
			if v.Err == nil {
				parts = append(parts, v.reader.Parts(within, pieceBytes)...)
			}
		}
	}
	before := func(site uint64) (bytes float64) {
		for _, p := range parts {
			switch at := layout.Place(site << 32); {
			case p.Contains(at):
				bytes += float64(p.Bytes) * float64(at-p.From) / p.Width()
			case p.From < at:
				bytes += float64(p.Bytes)
			}
		}
		return bytes
	}
	half := 0.0
	for _, p := range parts {
		half += float64(p.Bytes) / 2
	}
	for first < last {
		if site := first + (last-first)/2; before(site) < half {
			first = site + 1
		} else {
			last = site
		}
	}
	return layout.Place(first << 32), true
}
