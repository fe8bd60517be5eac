package postings

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// List is an opened list of the documents that have a term. It does not change, so several
// iterators may use it at the same time. It keeps the bytes given to Open, which must not be
// changed.
type List struct {
	data    []byte
	lengths Lengths // nil if the list has the length codes itself
	summary Summary
	blocks  []blockEntry  // an entry for each block, and one more at the end, with NoMore as the last document
	few     [2]blockEntry // memory of the field blocks if the list has one block: saves an allocation
}

// blockEntry says where a block of a list is, and which document is its last.
type blockEntry struct {
	last      uint32 // last document of the block
	at        uint32 // offset of the block in the list
	positions uint32 // offset of the block's positions in the list's positions
	impacts   uint32 // offset of the block's impacts in the list; 0 in a list of one block
}

// Open opens an encoded list of postings; data holds the list and nothing else. The parameter lengths has the length
// codes if the list was encoded without them (see Encoder.WithoutLengths); otherwise it is nil. Open decodes and
// checks only a part of the bytes. If the rest is damaged, an iterator may return wrong documents.
// But it does not panic, does not run for ever, and returns no document above Summary.Last. Errors
// wrap ErrDamaged.
func Open(data []byte, lengths Lengths) (*List, error) {
	l := &List{data: data, lengths: lengths}
	rest, ok := l.readHeader(data)
	switch {
	case !ok || uint64(len(data)) > 1<<32-1:
		return nil, fmt.Errorf("list of %d bytes: no header: %w", len(data), ErrDamaged)
	case l.summary.Documents <= BlockSize:
		ok = l.openBlock(rest)
	default:
		ok = l.openBlocks(rest)
	}
	if !ok {
		return nil, fmt.Errorf("list of %d documents in %d bytes: %w", l.summary.Documents, len(data), ErrDamaged)
	}
	return l, nil
}

// Sizes returns the number of documents of an encoded list, and the size of its positions in bytes. It reads the
// header alone. ok is false if that is damaged.
func Sizes(data []byte) (documents, positions uint32, ok bool) {
	var l List
	_, ok = l.readHeader(data)
	return l.summary.Documents, l.summary.Positions, ok
}

// readHeader reads the header of a list into the summary, and returns the bytes after it. ok is
// false if data is damaged.
func (l *List) readHeader(data []byte) (rest []byte, ok bool) {
	first, n := binary.Uvarint(data)
	documents := first >> 4
	if n <= 0 || documents == 0 || documents > NoMore {
		return nil, false
	}
	l.summary.Documents, l.summary.Positions = uint32(documents), uint32(first&15)
	rest = data[n:]
	if l.summary.Positions < many {
		return rest, true
	}
	l.summary.Positions, rest, ok = readNumber(rest)
	l.summary.Positions += many
	return rest, ok && l.summary.Positions >= many
}

// openBlock opens a list that has only one block. In the bytes of such a list there is no summary;
// openBlock computes it from the block. data is the list without its header. The result is false if
// data is damaged.
func (l *List) openBlock(data []byte) bool {
	var docs [BlockSize]uint32
	var p payload
	n := int(l.summary.Documents)
	rest, ok := readDocuments(docs[:n], data, 0)
	if !ok || !p.read(rest, docs[:n], l.lengths) {
		return false
	}
	l.summary.Last = docs[n-1]
	var whole impactSet
	for i := range n {
		whole.addPosting(&p.freq[i], &p.length[i])
	}
	l.summary.Impacts = whole.list(nil)
	for field := range Fields {
		l.summary.FieldDocuments[field] = uint32(p.fields[field].count())
	}
	l.few[0] = blockEntry{last: l.summary.Last, at: uint32(len(l.data) - len(data))}
	l.few[1] = blockEntry{last: NoMore, at: uint32(len(l.data)), positions: l.summary.Positions}
	l.blocks = l.few[:]
	return true
}

// openBlocks opens a list of several blocks: it reads the summary and the directory of the blocks.
// data is the list without its header. ok is false if data is damaged.
func (l *List) openBlocks(data []byte) (ok bool) {
	for field := range Fields {
		if l.summary.FieldDocuments[field], data, ok = readNumber(data); !ok {
			return false
		}
	}
	if l.summary.Impacts, data, ok = readImpacts(l.summary.Impacts[:0], data); !ok {
		return false
	}
	const least = 4 // bytes of an entry
	count := (uint64(l.summary.Documents) + BlockSize - 1) / BlockSize
	if count > uint64(len(data)/least) {
		return false
	}
	l.blocks = slices.Grow(l.blocks[:0], int(count)+1)[:count+1]
	var impacts []Impact
	next, at, positions := uint64(0), uint64(0), uint64(0)
	for i := range l.blocks[:count] {
		var numbers [3]uint32
		for j := range numbers {
			if numbers[j], data, ok = readNumber(data); !ok {
				return false
			}
		}
		next += uint64(numbers[0]) + uint64(l.size(i))
		if next > NoMore {
			return false
		}
		l.blocks[i] = blockEntry{
			last:      uint32(next - 1),
			at:        uint32(at),
			positions: uint32(positions),
			impacts:   uint32(len(l.data) - len(data)),
		}
		at += uint64(numbers[1])
		positions += uint64(numbers[2])
		if impacts, data, ok = readImpacts(impacts[:0], data); !ok {
			return false
		}
	}
	if at != uint64(len(data)) || positions != uint64(l.summary.Positions) {
		return false
	}
	start := uint32(len(l.data) - len(data))
	for i := range l.blocks {
		l.blocks[i].at += start
	}
	l.summary.Last = uint32(next - 1)
	l.blocks[count] = blockEntry{last: NoMore, at: uint32(len(l.data)), positions: uint32(positions)}
	return true
}

// size returns the number of documents in a block.
func (l *List) size(block int) int {
	return int(min(l.summary.Documents-uint32(block)*BlockSize, BlockSize))
}

// Summary returns the statistics of the whole list, such as the number of its documents. The caller
// must not change them.
func (l *List) Summary() *Summary { return &l.summary }

// Iterator returns a new iterator, whose position is before the first document.
func (l *List) Iterator() *Iterator {
	it := new(Iterator)
	it.Reset(l)
	return it
}

// appendDocuments appends the encoded numbers of a block's documents. The parameter
// base is the lowest number that the block can contain.
func appendDocuments(dst []byte, postings []Posting, base uint32) []byte {
	var gaps [BlockSize]uint32
	for i, p := range postings {
		gaps[i] = p.Doc - base
		base = p.Doc + 1
	}
	dst = binary.AppendUvarint(dst, uint64(gaps[0]))
	return appendNumbers(dst, gaps[1:len(postings)])
}

// readDocuments reads len(docs) document numbers that appendDocuments wrote with the
// same base, and returns the bytes after them. The numbers are ascending and below
// NoMore. ok is false if data is damaged.
func readDocuments(docs []uint32, data []byte, base uint32) (rest []byte, ok bool) {
	if docs[0], data, ok = readNumber(data); !ok {
		return nil, false
	}
	if data, ok = readNumbers(docs[1:], data); !ok {
		return nil, false
	}
	next := uint64(base)
	for i, gap := range docs {
		next += uint64(gap)
		docs[i] = uint32(next)
		next++
	}
	return data, next <= NoMore
}
