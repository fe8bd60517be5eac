package segment

import (
	"sort"
	"weak"
)

// guideStep is the number of terms between two marks of a guide.
const guideStep = 16

// Guide makes it faster to find terms in one block of terms. Terms are front-coded (each is stored as its
// difference from the one before), so a block must be read from its beginning. A guide has marks: places in the
// block, each with the term before it, from which the block can be read, too. The zero Guide has no marks.
type Guide struct {
	marks []mark
	terms []byte // for each mark, the term before it
	// address and size of the bytes of the block from which the guide was made. The checksum of these bytes was
	// verified. So if a block has the same address and size, it is not verified again.
	first weak.Pointer[byte]
	size  int
}

// mark is a place in a block of terms between two terms.
type mark struct {
	at        int   // offset of the term behind the mark, in the block
	positions int64 // offset of the positions of this term, in the positions of the block
	end       int   // end of the term before the mark, in Guide.terms
}

// Guides is a cache of guides. It must be safe for concurrent use.
type Guides interface {
	// Guides returns the guides of the blocks with the given numbers, of the segment with the given key. The
	// result has one element for each block, which is nil if the guide is not cached.
	Guides(segment string, blocks []int) []*Guide
	// PutGuide caches the guide of a block.
	PutGuide(segment string, block int, guide *Guide)
}

// newGuide makes the guide of a block. The reader must stand before the first term of the block; newGuide moves it
// behind the last one. The parameter sealed has the bytes of the block with their checksum, which the caller has
// verified.
func newGuide(r *blockReader, sealed []byte) *Guide {
	g := &Guide{first: weak.Make(&sealed[0]), size: len(sealed)}
	for n := 1; r.next(); n++ {
		if n%guideStep == 0 && r.p.left() > 0 {
			g.terms = append(g.terms, r.term...)
			g.marks = append(g.marks, mark{r.p.at, r.offset + r.bytes, len(g.terms)})
		}
	}
	return g
}

// isOf reports whether the guide was made from the bytes at this place in memory. Equal bytes at another place do
// not count, because their checksum was not verified.
func (g *Guide) isOf(sealed []byte) bool {
	return g != nil && len(sealed) == g.size && g.first.Value() == &sealed[0]
}

// before returns the term before a mark.
func (g *Guide) before(i int) []byte {
	from := 0
	if i > 0 {
		from = g.marks[i-1].end
	}
	return g.terms[from:g.marks[i].end]
}

// lead moves the reader forward to the last mark that is before the given term. If the reader is at this mark
// already, or behind it, it stays.
func (g *Guide) lead(r *blockReader, term string) {
	i := sort.Search(len(g.marks), func(i int) bool { return string(g.before(i)) >= term }) - 1
	if i >= 0 && g.marks[i].at > r.p.at {
		r.p.at, r.offset, r.bytes = g.marks[i].at, g.marks[i].positions, 0
		r.term = append(r.term[:0], g.before(i)...)
	}
}

// Size returns about how many bytes of memory the guide takes.
func (g *Guide) Size() int64 {
	const fixed, each = 128, 24 // sizes of a Guide and of a mark
	return int64(fixed + each*cap(g.marks) + cap(g.terms))
}
