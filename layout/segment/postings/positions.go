package postings

import "fmt"

// cursor marks the place in the positions of a block up to which they have been read.
type cursor struct {
	block int  // number of the block, or noBlock
	doc   int  // document whose positions are next, as an index in the block
	bit   uint // number of the bit at which the positions of this document begin
}

// PositionBlock returns a range of the list's encoded positions (see Encoder.Append), in bytes. The
// range holds the positions of all documents in the current block. The caller reads it, and gives
// its bytes to the method Positions.
func (it *Iterator) PositionBlock() (offset, length uint32) {
	if it.n == 0 {
		return 0, 0
	}
	from, to := it.list.blocks[it.block].positions, it.list.blocks[it.block+1].positions
	return from, to - from
}

// Positions appends the current document's positions to dst, field by field as in Encoder.Add.
// block holds the bytes at the range that PositionBlock returns. Calls for later documents of
// the same block go on where the last call ended, and so decode each bit once.
func (it *Iterator) Positions(block []byte, dst []uint32) ([]uint32, error) {
	if it.n == 0 {
		return dst, nil
	}
	it.Payload()
	if it.err != nil {
		return dst, it.err
	}
	if it.positions.block != it.block || it.positions.doc > it.at {
		it.positions = cursor{block: it.block}
	}
	c, ok := &it.positions, true
	for ; c.doc < it.at && ok; c.doc++ {
		ok = it.payload.skipPositions(block, c)
	}
	if ok {
		dst, ok = it.payload.readPositions(block, c, dst)
		c.doc++
	}
	if !ok {
		it.positions.block = noBlock
		return dst, fmt.Errorf("positions of document %d, in a block of %d bytes: %w", it.doc, len(block), ErrDamaged)
	}
	return dst, nil
}

// holds reports whether the positions of a block can contain n gaps from bit number
// bit on: each gap takes at least one bit.
func holds(block []byte, bit uint, n uint32) bool {
	return uint64(bit)+uint64(n) <= uint64(len(block))*8
}

// skipPositions skips the positions of c's document: it moves c.bit to their end. It
// returns false if these would go beyond the end of the block.
func (p *payload) skipPositions(block []byte, c *cursor) bool {
	for field, freq := range p.freq[c.doc] {
		if freq == 0 {
			continue
		}
		if !holds(block, c.bit, freq) {
			return false
		}
		bit, k := c.bit, parameter(p.length[c.doc][field], freq)
		for range freq {
			_, bit = readRice(block, bit, k)
		}
		c.bit = bit
	}
	return true
}

// readPositions appends the positions of c's document to dst, and moves c.bit to their
// end. ok is false if the block is damaged.
func (p *payload) readPositions(block []byte, c *cursor, dst []uint32) (positions []uint32, ok bool) {
	for field, freq := range p.freq[c.doc] {
		if freq == 0 {
			continue
		}
		if !holds(block, c.bit, freq) {
			return dst, false
		}
		bit, k, position := c.bit, parameter(p.length[c.doc][field], freq), uint64(0)
		for range freq {
			var gap uint32
			gap, bit = readRice(block, bit, k)
			position += uint64(gap)
			dst = append(dst, uint32(position))
		}
		if position > 1<<32-1 || !holds(block, bit, 0) {
			return dst, false
		}
		c.bit = bit
	}
	return dst, true
}
