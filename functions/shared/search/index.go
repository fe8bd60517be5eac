package search

import (
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Part is a segment as an index sees it.
type Part struct {
	Segment *segment.Segment
	Dead    *roaring.Bitmap // documents that are not there: deleted or hidden; nil when all are. It must not change
}

// Index is a set of segments searched as one. It is immutable and safe for
// concurrent use; making one reads nothing.
type Index struct {
	parts     []Part
	memory    *Memory
	totals    *totals
	languages map[string]int // documents by language
	documents int            // that are there
	exactly   int            // up to how many matches are counted before any is passed over
}

// New makes an index. Segments may be shared with other indexes, and so may the
// memory; nil remembers nothing.
func New(parts []Part, memory *Memory) (*Index, error) {
	ix := &Index{parts: parts, memory: memory, totals: newTotals(parts), languages: map[string]int{}, exactly: countExactly}
	if ix.totals.documents > math.MaxInt32 {
		return nil, fmt.Errorf("cannot search %.0f documents as one: at most %d", ix.totals.documents, math.MaxInt32)
	}
	for _, p := range parts {
		ix.documents += p.Segment.Documents()
		if p.Dead != nil {
			ix.documents -= int(p.Dead.GetCardinality())
		}
		for language, n := range p.Segment.Languages() {
			ix.languages[language] += n
		}
	}
	if memory == nil {
		ix.memory = NewMemory(0)
	}
	return ix, nil
}

// Documents returns the number of documents that are there.
func (ix *Index) Documents() int { return ix.documents }
