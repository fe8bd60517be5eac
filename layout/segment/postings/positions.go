package postings

import "fmt"

// cursor says how far the positions of a block have been decoded: which document's positions are
// next, and where they begin.
type cursor struct {
	block int  // number of the block, or noBlock
	doc   int  // document whose positions are next, as an index in the block
	bit   uint // number of the bit at which the positions of this document begin
}

// PositionBlock says where the positions of the current block's documents are: as offset and length,
// in bytes, within the encoded positions of the list (see Encoder.Append). The caller reads these
// bytes, and passes them to the method Positions.
func (it *Iterator) PositionBlock() (offset, length uint32) {
	if it.n == 0 {
		return 0, 0
	}
	from, to := it.list.blocks[it.block].positions, it.list.blocks[it.block+1].positions
	return from, to - from
}

// Positions appends the current document's positions to dst, field by field as in Encoder.Add. The
// parameter block must hold the encoded positions of the current block: the bytes at the range that
// PositionBlock returns. Calls for several documents of a block in ascending order are fast: each
// call goes on decoding where the call before it ended.
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

// holds reports whether the positions of a block may contain n gaps from the given bit on. Each gap
// takes at least one bit, so that damage can be noticed before the gaps are decoded.
func holds(block []byte, bit uint, n uint32) bool {
	return uint64(bit)+uint64(n) <= uint64(len(block))*8
}

// skipPositions skips the positions of the document c.doc. They begin at the bit c.bit of the block;
// skipPositions moves c.bit to their end. It returns false if they would go beyond the end of the
// block.
func (p *payload) skipPositions(block []byte, c *cursor) bool {
	for field, freq := range p.freq[c.doc] {
		if freq == 0 {
			continue
		}
		if !holds(block, c.bit, freq) {
			return false
		}
		c.bit = skipRice(block, c.bit, p.apart.parameter(field, p.length[c.doc][field], freq), freq)
	}
	return true
}

// readPositions appends the positions of the document c.doc to dst. They begin at the bit c.bit of
// the block; readPositions moves c.bit to their end. ok is false if the block is damaged.
func (p *payload) readPositions(block []byte, c *cursor, dst []uint32) (positions []uint32, ok bool) {
	for field, freq := range p.freq[c.doc] {
		if freq == 0 {
			continue
		}
		if !holds(block, c.bit, freq) {
			return dst, false
		}
		bit, k, position := c.bit, p.apart.parameter(field, p.length[c.doc][field], freq), uint64(0)
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
