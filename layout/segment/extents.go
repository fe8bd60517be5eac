package segment

import (
	"encoding/binary"
	"sort"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// extents are the ranges of consecutive pieces of a segment, such as its stored blocks:
// piece 0 begins at the offset start, piece i ends at the offset ends[i], where piece i+1
// begins.
type extents struct {
	start int64
	ends  []int64
}

// add adds the extent of a piece of size bytes that follows the last piece.
func (p *extents) add(size int64) { p.ends = append(p.ends, p.end()+size) }

// move adds a number of bytes to the offsets of all pieces. It is called when that many bytes have
// been put before the pieces.
func (p *extents) move(by int64) {
	p.start += by
	for i := range p.ends {
		p.ends[i] += by
	}
}

// end returns the offset at which the last piece ends.
func (p *extents) end() int64 { return p.from(len(p.ends)) }

// from returns the offset at which piece i begins.
func (p *extents) from(i int) int64 {
	if i == 0 {
		return p.start
	}
	return p.ends[i-1]
}

// at returns the range of the i-th piece.
func (p *extents) at(i int) blob.Range {
	return blob.Range{Offset: p.from(i), Length: p.ends[i] - p.from(i)}
}

// ranges returns the ranges of the pieces with these numbers.
func (p *extents) ranges(pieces []int) []blob.Range {
	ranges := make([]blob.Range, len(pieces))
	for i, n := range pieces {
		ranges[i] = p.at(n)
	}
	return ranges
}

// termIndex is the directory of the blocks of terms: it says where each block is, and which terms
// it may hold. The terms of block i are above separator i-1 and not above separator i.
type termIndex struct {
	extents                // extents of the blocks; each includes the positions of its terms
	counts        []uint32 // number of terms of each block
	positions     []int64  // size of each block's positions, without checksums
	separators    []byte   // all separators, one after the other
	separatorEnds []uint32 // for each separator, the offset of its end in the bytes of separators
}

// separator returns the separator of block i: no term of block i is above it, and all
// terms of block i+1 are.
func (t *termIndex) separator(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = t.separatorEnds[i-1]
	}
	return t.separators[from:t.separatorEnds[i]]
}

// find returns the index of the only block that can contain a term. If the term is above
// the last separator, no block can, and find returns len(t.counts).
func (t *termIndex) find(term string) int {
	return sort.Search(len(t.counts), func(i int) bool { return string(t.separator(i)) >= term })
}

// split returns two neighbouring ranges of the segment, which together hold term block i. The first
// (the result block) has the terms and their lists of postings. The second (the result pages) has
// the positions of these terms, with the checksums (see pageSize).
func (t *termIndex) split(i int) (block, pages blob.Range) {
	all, size := t.at(i), sizeInPages(t.positions[i])
	block = blob.Range{Offset: all.Offset, Length: all.Length - size}
	return block, blob.Range{Offset: block.Offset + block.Length, Length: size}
}

// add adds a block of terms to the directory. The parameter size is the size of the
// block in bytes, without its positions; positions is the size of the positions,
// without checksums; count is the number of the block's terms.
func (t *termIndex) add(size, positions int64, count uint32) {
	t.extents.add(size + sizeInPages(positions))
	t.positions = append(t.positions, positions)
	t.counts = append(t.counts, count)
}

// separate sets the separator (see termIndex) of the block that was added last.
func (t *termIndex) separate(separator []byte) {
	t.separators = append(t.separators, separator...)
	t.separatorEnds = append(t.separatorEnds, uint32(len(t.separators)))
}

func (t *termIndex) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(t.counts)))
	var last []byte
	for i, count := range t.counts {
		block, _ := t.split(i)
		b = binary.AppendUvarint(b, uint64(block.Length))
		b = binary.AppendUvarint(b, uint64(t.positions[i]))
		b = binary.AppendUvarint(b, uint64(count))
		b = appendFront(b, last, t.separator(i))
		last = t.separator(i)
	}
	return b
}

// termIndex reads the directory of the term blocks of a segment. The parameter start is the offset
// at which the first block begins; size is the size of the segment in bytes.
func (p *parser) termIndex(start, size int64) termIndex {
	t := termIndex{extents: extents{start: start}}
	var last, separator []byte
	for range p.count(4) {
		t.add(int64(p.number(uint64(size))), int64(p.number(uint64(size))), uint32(p.number(uint64(size))))
		separator = p.front(separator)
		if t.end() > size || len(t.counts) > 1 && string(separator) <= string(last) {
			p.fail()
			return t
		}
		t.separate(separator)
		last = append(last[:0], separator...)
	}
	return t
}

// storedIndex is the directory of the stored blocks: where each block is, and which
// documents it holds.
type storedIndex struct {
	extents
	first []uint32 // number of the first document of each block; then one more element, the number of all documents
	raw   []uint32 // size of each block before compression, in bytes
}

// documents returns the number of documents in all blocks.
func (s *storedIndex) documents() uint32 {
	if len(s.first) == 0 {
		return 0
	}
	return s.first[len(s.first)-1]
}

// find returns the number of the stored block that contains the document doc.
func (s *storedIndex) find(doc uint32) int {
	return sort.Search(len(s.ends)-1, func(i int) bool { return s.first[i+1] > doc })
}

// count returns the number of documents in a block.
func (s *storedIndex) count(block int) int { return int(s.first[block+1] - s.first[block]) }

// add adds a block: its size, its size before compression, and its number of documents.
func (s *storedIndex) add(size int64, raw, documents uint32) {
	if len(s.first) == 0 {
		s.first = append(s.first, 0)
	}
	s.extents.add(size)
	s.raw = append(s.raw, raw)
	s.first = append(s.first, s.documents()+documents)
}

func (s *storedIndex) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.ends)))
	for i := range s.ends {
		b = binary.AppendUvarint(b, uint64(s.at(i).Length))
		b = binary.AppendUvarint(b, uint64(s.raw[i]))
		b = binary.AppendUvarint(b, uint64(s.count(i)))
	}
	return b
}

// storedIndex reads the directory of the stored blocks of a segment. The parameter start is the
// offset at which the first block begins; size is the size of the segment in bytes.
func (p *parser) storedIndex(start, size int64) storedIndex {
	s := storedIndex{extents: extents{start: start}}
	for range p.count(3) {
		s.add(int64(p.number(uint64(size-s.end()))), uint32(p.number(maxStoredBlock)),
			uint32(p.number(uint64(MaxDocuments-s.documents()))))
	}
	return s
}
