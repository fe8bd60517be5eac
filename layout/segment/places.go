package segment

import (
	"encoding/binary"
	"sort"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// places holds the ends of consecutive pieces of the object.
type places struct {
	start int64
	ends  []int64
}

func (p *places) add(size int64) { p.ends = append(p.ends, p.end()+size) }

func (p *places) move(by int64) {
	p.start += by
	for i := range p.ends {
		p.ends[i] += by
	}
}

func (p *places) end() int64 { return p.from(len(p.ends)) }

// from returns the offset at which piece i begins.
func (p *places) from(i int) int64 {
	if i == 0 {
		return p.start
	}
	return p.ends[i-1]
}

func (p *places) at(i int) blob.Range {
	return blob.Range{Offset: p.from(i), Length: p.ends[i] - p.from(i)}
}

func (p *places) ranges(pieces []int) []blob.Range {
	ranges := make([]blob.Range, len(pieces))
	for i, n := range pieces {
		ranges[i] = p.at(n)
	}
	return ranges
}

// termIndex is the directory of term blocks, each of which is followed by its
// positions. Block i holds the terms above separator i-1 up to separator i.
type termIndex struct {
	places                 // of blocks with their positions
	counts        []uint32 // terms of each block
	positions     []int64  // bytes of each block's positions, without checksums
	separators    []byte
	separatorEnds []uint32
}

func (t *termIndex) separator(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = t.separatorEnds[i-1]
	}
	return t.separators[from:t.separatorEnds[i]]
}

// find returns the number of the block that may hold the term; the number of blocks if
// the term follows all.
func (t *termIndex) find(term string) int {
	return sort.Search(len(t.counts), func(i int) bool { return string(t.separator(i)) >= term })
}

// split returns the ranges of block i and of the pages of its positions.
func (t *termIndex) split(i int) (block, pages blob.Range) {
	all, size := t.at(i), sizeInPages(t.positions[i])
	block = blob.Range{Offset: all.Offset, Length: all.Length - size}
	return block, blob.Range{Offset: block.Offset + block.Length, Length: size}
}

// add adds a block with the given size and size of positions.
func (t *termIndex) add(size, positions int64, count uint32) {
	t.places.add(size + sizeInPages(positions))
	t.positions = append(t.positions, positions)
	t.counts = append(t.counts, count)
}

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

// termIndex reads the directory of the blocks from offset start on, in an object of the
// given size.
func (p *parser) termIndex(start, size int64) termIndex {
	t := termIndex{places: places{start: start}}
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

type storedIndex struct {
	places
	first []uint32 // the first document of each block, and the number of all
	raw   []uint32 // bytes of each block before compression
}

func (s *storedIndex) documents() uint32 {
	if len(s.first) == 0 {
		return 0
	}
	return s.first[len(s.first)-1]
}

func (s *storedIndex) find(doc uint32) int {
	return sort.Search(len(s.ends)-1, func(i int) bool { return s.first[i+1] > doc })
}

func (s *storedIndex) count(block int) int { return int(s.first[block+1] - s.first[block]) }

func (s *storedIndex) add(size int64, raw, documents uint32) {
	if len(s.first) == 0 {
		s.first = append(s.first, 0)
	}
	s.places.add(size)
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

func (p *parser) storedIndex(start, size int64) storedIndex {
	s := storedIndex{places: places{start: start}}
	for range p.count(3) {
		s.add(int64(p.number(uint64(size-s.end()))), uint32(p.number(maxStoredBlock)),
			uint32(p.number(uint64(MaxDocuments-s.documents()))))
	}
	return s
}
