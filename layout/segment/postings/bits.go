package postings

import "encoding/binary"

// pack appends the low width bits of each number, first the lowest of the
// first, and fills the last byte with zeros. width is at most 32.
func pack(dst []byte, numbers []uint32, width uint) []byte {
	var w bitWriter
	for _, v := range numbers {
		dst = w.write(dst, uint64(v)&(1<<width-1), width)
	}
	return w.flush(dst)
}

// packed is the number of bytes that pack needs for n numbers.
func packed(n int, width uint) int { return (n*int(width) + 7) / 8 }

// unpack reads len(numbers) numbers; data holds at least what pack wrote and
// may go on.
func unpack(numbers []uint32, data []byte, width uint) {
	if width == 0 {
		clear(numbers)
		return
	}
	width &= 63
	mask := uint64(1)<<width - 1
	// As many as a load of eight bytes does not lead behind the data.
	fast := min(len(numbers), max(0, (len(data)*8-57)/int(width)))
	i, at := 0, uint(0)
	if 4*width <= 57 { // one load has four
		for ; i+4 <= fast; i += 4 {
			word, four := binary.LittleEndian.Uint64(data[at>>3:])>>(at&7), numbers[i:i+4]
			four[0] = uint32(word & mask)
			word >>= width
			four[1] = uint32(word & mask)
			word >>= width
			four[2] = uint32(word & mask)
			four[3] = uint32(word >> width & mask)
			at += 4 * width
		}
	}
	for ; i < fast; i++ {
		numbers[i] = uint32(binary.LittleEndian.Uint64(data[at>>3:]) >> (at & 7) & mask)
		at += width
	}
	for ; i < len(numbers); i++ {
		numbers[i] = uint32(load(data, at) & mask)
		at += width
	}
}

// load returns at least 57 bits from a bit's place on, zeros behind the end.
func load(data []byte, at uint) uint64 {
	from := at >> 3
	if from+8 <= uint(len(data)) {
		return binary.LittleEndian.Uint64(data[from:]) >> (at & 7)
	}
	var end [8]byte
	if from < uint(len(data)) {
		copy(end[:], data[from:])
	}
	return binary.LittleEndian.Uint64(end[:]) >> (at & 7)
}

// bitWriter holds the bits that do not yet fill a byte.
type bitWriter struct {
	bits  uint64
	count uint // 0 to 7
}

// write appends the low width bits of v, which has no others; width <= 56.
func (w *bitWriter) write(dst []byte, v uint64, width uint) []byte {
	w.bits |= v << w.count
	w.count += width
	whole := w.count / 8
	end := len(dst) + int(whole)
	dst = binary.LittleEndian.AppendUint64(dst, w.bits)[:end]
	w.bits >>= whole * 8
	w.count &= 7
	return dst
}

// flush fills the last byte.
func (w *bitWriter) flush(dst []byte) []byte {
	if w.count > 0 {
		dst = append(dst, byte(w.bits))
	}
	*w = bitWriter{}
	return dst
}
