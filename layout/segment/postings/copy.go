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

// AppendRenumbered appends a copy of an encoded list of postings in which document doc has the number numbers[doc].
// The copy is of the list's version, and has the bytes that an Encoder would write after AddList. But AppendRenumbered is
// faster, because it decodes only blocks in which distances between documents change: those with a document left out in
// between. The new numbers must ascend, and be neighbours if no document between two is left out.
//
// ok is false if a document of the list itself is to be left out (its new number is NoMore), which only AddList can do.
// Errors wrap ErrDamaged.
func AppendRenumbered(dst, list []byte, numbers []uint32) (renumbered []byte, ok bool, err error) {
	r := renumbering{numbers: numbers}
	if dst, ok = r.appendList(dst, list); !ok && !r.dead {
		return dst, false, fmt.Errorf("list of %d bytes, among %d documents: %w", len(list), len(numbers), ErrDamaged)
	}
	return dst, ok, nil
}

// renumbering is what AppendRenumbered knows of the blocks before the current one.
type renumbering struct {
	numbers   []uint32
	base, now uint32 // lowest number that the current block can contain: the old one, and the new one
	dead      bool   // whether a document of the list is to be left out
}

// appendList appends the copy of a list. It returns false if the list is damaged, or if r.dead is true.
func (r *renumbering) appendList(dst, list []byte) (_ []byte, ok bool) {
	l := List{data: list}
	data, ok := l.readHeader(list)
	if !ok || len(r.numbers) == 0 {
		return dst, false
	}
	if l.summary.Documents <= BlockSize {
		dst = append(dst, list[:len(list)-len(data)]...)
		return r.appendBlock(dst, data, int(l.summary.Documents), uint32(len(r.numbers)-1))
	}
	if !l.openBlocks(data) || uint64(l.summary.Last) >= uint64(len(r.numbers)) {
		return dst, false
	}
	for range Fields {
		_, data, _ = readNumber(data)
	}
	impacts, data, _ := readImpacts(nil, data)
	dst = append(dst, list[:len(list)-len(data)]...)
	blocks := make([]byte, 0, len(list))
	for i, here := range l.blocks[:len(l.blocks)-1] {
		if r.numbers[here.last] == NoMore {
			r.dead = true
			return dst, false
		}
		from := len(blocks)
		if blocks, ok = r.appendBlock(blocks, list[here.at:l.blocks[i+1].at], l.size(i), here.last); !ok {
			return dst, false
		}
		next := r.numbers[here.last] + 1
		dst = binary.AppendUvarint(dst, uint64(next-r.now)-uint64(l.size(i)))
		dst = binary.AppendUvarint(dst, uint64(len(blocks)-from))
		r.base, r.now = here.last+1, next

		// The first two numbers of the block's entry are replaced by these. The rest of the entry stays as it is: the size
		// of the positions, and the impacts.
		_, data, _ = readNumber(data)
		_, data, _ = readNumber(data)
		_, rest, _ := readNumber(data)
		impacts, rest, _ = readImpacts(impacts[:0], rest)
		dst = append(dst, data[:len(data)-len(rest)]...)
		data = rest
	}
	return append(dst, blocks...), true
}

// appendBlock appends the copy of a block of n documents. None of them may be after the document last. appendBlock
// returns false if the block is damaged, or if r.dead is true.
func (r *renumbering) appendBlock(dst, data []byte, n int, last uint32) (_ []byte, ok bool) {
	gap, rest, ok := readNumber(data)
	first := uint64(r.base) + uint64(gap)
	if !ok || first+uint64(n-1) > uint64(last) {
		return dst, false
	}
	if now := r.numbers[first]; now != NoMore && r.numbers[last]-now == last-uint32(first) { // no document between them is left out
		return append(binary.AppendUvarint(dst, uint64(now-r.now)), rest...), true
	}
	var docs [BlockSize]uint32
	if rest, ok = readDocuments(docs[:n], data, r.base); !ok || docs[n-1] > last {
		return dst, false
	}
	next := r.now
	for i, doc := range docs[:n] {
		now := r.numbers[doc]
		if now == NoMore {
			r.dead = true
			return dst, false
		}
		docs[i], next = now-next, now+1
	}
	dst = appendNumbers(binary.AppendUvarint(dst, uint64(docs[0])), docs[1:n])
	return append(dst, rest...), true
}
