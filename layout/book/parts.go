package book

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Part is a range of the hash space and how many bytes the book holds there.
type Part struct {
	layout.Range
	Bytes int64
}

// Parts cuts the whole hash space into ranges of which the book holds about
// the given number of bytes each, for those who share out the reading. It asks
// for nothing.
func (r *Reader) Parts(size int64) []Part {
	blocks := slices.Concat(r.directory.outcomes, r.directory.links)
	slices.SortFunc(blocks, func(a, b block) int { return cmp.Compare(a.first, b.first) })
	parts := make([]Part, 1)
	for _, b := range blocks {
		last := &parts[len(parts)-1]
		if last.Bytes >= size && b.first > last.From {
			last.To = b.first
			parts = append(parts, Part{Range: layout.Range{From: b.first}})
			last = &parts[len(parts)-1]
		}
		last.Bytes += int64(b.size)
	}
	return parts
}
