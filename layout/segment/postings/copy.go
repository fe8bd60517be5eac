package postings

import (
	"encoding/binary"
	"fmt"
)

// source is an encoded list of postings that AddList reads. docs and payload are the decoded
// current block of the list.
type source struct {
	list      List
	docs      [BlockSize]uint32
	payload   payload
	positions []uint32 // those of a document, if they must be decoded
}

// AddList adds the documents of an encoded list of postings, as Add would. numbers[doc] is the new
// number of document doc, or NoMore to leave it out. The parameter lengths is as for Open, by the old numbers. If the
// list is of the version that the encoder writes, the positions are copied without being decoded. Errors wrap
// ErrDamaged; after one, Reset must be called.
func (e *Encoder) AddList(list, positions []byte, numbers []uint32, lengths Lengths) error {
	e.source.list.lengths = lengths
	if !e.addList(list, positions, numbers) {
		return fmt.Errorf("list of %d bytes, %d of positions, among %d documents: %w", len(list), len(positions), len(numbers), ErrDamaged)
	}
	return nil
}

// addList adds the documents of an encoded list (see AddList). It returns false if the list
// is damaged.
func (e *Encoder) addList(list, positions []byte, numbers []uint32) bool {
	l := &e.source.list
	l.data = list
	rest, ok := l.readHeader(list)
	if !ok || uint64(len(list)) > 1<<32-1 || uint64(l.summary.Positions) != uint64(len(positions)) {
		return false
	}
	if l.summary.Documents <= BlockSize {
		return e.addBlock(rest, positions, int(l.summary.Documents), 0, numbers)
	}
	if !l.openBlocks(rest) {
		return false
	}
	base := uint32(0)
	for i, here := range l.blocks[:len(l.blocks)-1] {
		next, n := l.blocks[i+1], l.size(i)
		if !e.addBlock(list[here.at:next.at], positions[here.positions:next.positions], n, base, numbers) || e.source.docs[n-1] != here.last {
			return false
		}
		base = here.last + 1
	}
	return true
}

// addBlock adds the n documents of a block under their new numbers (see AddList). base is
// the lowest old number that the block can contain: one more than the last document of the
// block before. It returns false if the block is damaged.
func (e *Encoder) addBlock(data, positions []byte, n int, base uint32, numbers []uint32) bool {
	docs, p := e.source.docs[:n], &e.source.payload
	rest, ok := readDocuments(docs, data, base)
	if !ok || !p.read(rest, docs, e.source.list.lengths) || uint64(docs[n-1]) >= uint64(len(numbers)) {
		return false
	}
	if p.apart != e.apart {
		return e.recodeBlock(docs, positions, numbers)
	}
	var c cursor
	copied := uint(0) // positions before this bit are copied or left out
	for i, doc := range docs {
		from := c.bit
		if !p.skipPositions(positions, &c) {
			return false
		}
		c.doc++
		if numbers[doc] == NoMore {
			e.copyBits(positions, copied, from)
			copied = c.bit
			continue
		}
		if e.count == BlockSize {
			e.copyBits(positions, copied, from)
			copied = from
		}
		e.begin(numbers[doc])
		e.end(Posting{Doc: numbers[doc], Freq: p.freq[i], Length: p.length[i], Hits: p.hits[i]})
	}
	if !holds(positions, c.bit, 0) {
		return false
	}
	e.copyBits(positions, copied, c.bit)
	return true
}

// recodeBlock adds the documents of a block, whose payload is in e.source. Its list is of another version than this
// encoder writes, so the positions are decoded and encoded anew. It returns false if they are damaged.
func (e *Encoder) recodeBlock(docs []uint32, positions []byte, numbers []uint32) (ok bool) {
	p := &e.source.payload
	var c cursor
	for i, doc := range docs {
		if e.source.positions, ok = p.readPositions(positions, &c, e.source.positions[:0]); !ok {
			return false
		}
		c.doc++
		if numbers[doc] != NoMore {
			e.Add(Posting{Doc: numbers[doc], Freq: p.freq[i], Length: p.length[i], Hits: p.hits[i]}, e.source.positions)
		}
	}
	return true
}

// copyBits copies a range of bits of encoded positions, and appends them to the positions of the
// encoder. The last two parameters are the number of the first bit, and that of the bit after the
// last.
func (e *Encoder) copyBits(positions []byte, from, to uint) {
	const most = 56
	for from < to {
		n := min(to-from, most)
		e.positions = e.bits.write(e.positions, load(positions, from)&(1<<n-1), n)
		from += n
	}
}

// AppendMoved appends a copy of an encoded list of postings in which the number of every document
// is higher by a constant (the parameter by). The copy has the bytes that an Encoder would write
// for these documents. But AppendMoved is faster, because it decodes only the parts of the list
// that change. Errors wrap ErrDamaged.
func AppendMoved(dst, list []byte, by uint32) ([]byte, error) {
	l := List{data: list}
	data, ok := l.readHeader(list)
	if ok && l.summary.Documents > BlockSize {
		if ok = l.openBlocks(data); ok {
			dst, data = l.appendMovedDirectory(dst, data, by)
		}
	} else {
		dst = append(dst, list[:len(list)-len(data)]...)
	}
	first, width := binary.Uvarint(data)
	if !ok || width <= 0 || first+uint64(by) >= NoMore {
		return dst, fmt.Errorf("list of %d bytes, %d documents further: %w", len(list), by, ErrDamaged)
	}
	dst = binary.AppendUvarint(dst, first+uint64(by))
	return append(dst, data[width:]...), nil
}

// appendMovedDirectory appends to dst the part between the header and the blocks, for a copy of the list
// in which all document numbers are higher by a constant (the parameter by). The list must have several
// blocks. The copied part differs only in the first block's entry of the directory: the other
// entries hold differences of document numbers. The parameter data has all bytes of the list after
// its header. The results are the extended dst, and the bytes of the blocks.
func (l *List) appendMovedDirectory(dst, data []byte, by uint32) (moved, blocks []byte) {
	for range Fields {
		_, data, _ = readNumber(data)
	}
	_, data, _ = readImpacts(nil, data)
	dst = append(dst, l.data[:len(l.data)-len(data)]...)
	blocks = l.data[l.blocks[0].at:]
	first, width := binary.Uvarint(blocks)
	widened := len(binary.AppendUvarint(nil, first+uint64(by))) - width
	before, data, _ := readNumber(data)
	size, data, _ := readNumber(data)
	dst = binary.AppendUvarint(dst, uint64(before)+uint64(by))
	dst = binary.AppendUvarint(dst, uint64(int(size)+widened))
	return append(dst, data[:len(data)-len(blocks)]...), blocks
}
