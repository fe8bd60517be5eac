package postings

import (
	"encoding/binary"
	"math/bits"
)

// pack appends numbers in width bits each, the lowest bit first, without gaps between
// them, and zeros up to the next byte. Higher bits of a number are dropped. The
// parameter width is at most 32.
func pack(dst []byte, numbers []uint32, width uint) []byte {
	var w bitWriter
	for _, v := range numbers {
		dst = w.write(dst, uint64(v)&(1<<width-1), width)
	}
	return w.flush(dst)
}

// packed returns the number of bytes that pack appends for n numbers.
func packed(n int, width uint) int { return (n*int(width) + 7) / 8 }

// unpack reads len(numbers) numbers that pack has appended with the same width. The
// parameter data may have more bytes after them.
func unpack(numbers []uint32, data []byte, width uint) {
	if width == 0 {
		clear(numbers)
		return
	}
	width &= 63
	mask := uint64(1)<<width - 1
	// fast is how many of the numbers can be decoded by loading eight bytes together, without a
	// load beyond the end of data.
	fast := min(len(numbers), max(0, (len(data)*8-57)/int(width)))
	i, at := 0, uint(0)
	if 4*width <= 57 { // one load of eight bytes has four numbers
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

// load returns 64 bits of data as a number, the lowest bit first. They begin at the bit whose index
// is the second parameter; index 0 is the lowest bit of data[0]. Only the lowest 57 bits of the
// result can be relied on: up to seven higher ones may be missing. After the end of data, bits are
// zero.
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

// bitWriter appends bits to bytes, the lowest bit of a byte first. It holds the bits
// that do not yet fill a byte.
type bitWriter struct {
	bits  uint64
	count uint // number of bits that do not yet fill a byte, 0 to 7
}

// write writes the lowest bits of v; width is their number, at most 56. The other bits of v must be
// zero. write appends all bytes that are now full to dst; w keeps the rest of the bits.
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

// flush appends a last byte, padded with zeros, if there are bits that do not fill one.
func (w *bitWriter) flush(dst []byte) []byte {
	if w.count > 0 {
		dst = append(dst, byte(w.bits))
	}
	*w = bitWriter{}
	return dst
}

// Positions are gaps in Rice's code (Rice and Plaunt, Adaptive Variable-Length
// Coding, 1971): v>>k ones, a zero, the low k bits. A field's k follows from its
// length and the term's frequency there, so no byte is spent on it. Measured on
// documentation in English: 1.10 bytes a position; packed with exceptions 1.30,
// varints 1.35; 1.06 would be the least for terms that fall anywhere.

// longest is the greatest number of ones at the beginning of a code. A gap whose Rice code would
// begin with 16 ones or more is written as 16 ones and the 32 bits of the gap itself.
const longest = 16

// distances has, for each field, what is added to the parameter of Rice's code: a number of bits.
type distances [Fields]uint

// apart is what lists of version 2 add; those of version 1 add nothing. The headings of a page are a hundred positions
// apart, so their gaps are about 2⁴ times as long as their number of words suggests. Measured on documentation in
// English, a position in headings takes 1.24 bytes, and 3.47 in lists of version 1.
var apart = distances{1: 4}

// parameter returns the parameter k of Rice's code for the gaps between the positions of a
// term in a field. length is the code of the field's length (see LengthCode); freq is the
// number of times that the field contains the term.
func (d *distances) parameter(field int, length uint8, freq uint32) uint {
	mean := uint64(LengthOf(length)) * 13 / 16 / uint64(freq)
	return min(uint(max(1, bits.Len64(mean)))-1+d[field], 31)
}

// appendRice appends the gap v in Rice's code with the parameter k, through the bitWriter w.
func appendRice(dst []byte, w *bitWriter, v uint32, k uint) []byte {
	ones := uint(v >> k)
	if ones >= longest {
		return w.write(dst, uint64(v)<<longest|(1<<longest-1), longest+32)
	}
	return w.write(dst, (uint64(v)&(1<<k-1))<<(ones+1)|(1<<ones-1), ones+1+k)
}

// readRice reads one gap in Rice's code with the parameter k. The second parameter is the number of
// the bit at which the gap begins, counted from the lowest bit of data[0]. The result next is the
// number of the bit after the gap, which may be after the end of data.
func readRice(data []byte, at, k uint) (v uint32, next uint) {
	word := load(data, at)
	ones := uint(bits.TrailingZeros64(^word))
	if ones >= longest {
		return uint32(word >> longest), at + longest + 32
	}
	return uint32(ones<<(k&31)) | uint32(word>>(ones+1))&(1<<(k&31)-1), at + ones + 1 + k
}

// skipRice returns the number of the bit after n gaps in Rice's code with the parameter k. The first of them begins at
// the bit with the number at. The result may be after the end of data.
func skipRice(data []byte, at, k uint, n uint32) uint {
	const loaded = 57 // number of bits that load returns at least
	for n > 0 {
		word, left := load(data, at), uint(loaded)
		for ; n > 0; n-- {
			ones := uint(bits.TrailingZeros64(^word))
			width := ones + 1 + k
			if ones >= longest {
				width = longest + 32
			}
			if width > left {
				break
			}
			word >>= width & 63
			left -= width
			at += width
		}
	}
	return at
}

// few is the least number of numbers that appendNumbers packs in bits; if there are fewer, it
// writes each as a varint.
const few = 4

// exceptional is a bit of the byte that holds the width of packed numbers. It is set
// if some of the numbers have more bits than this width (see appendNumbers).
const exceptional = 0x40

// appendNumbers appends at most BlockSize numbers. Fewer than 4 (the constant few) are written as
// varints. Otherwise the lowest w bits of every number are written (see bestWidth), and then the
// higher bits of those numbers that have more. This is patched frame of reference (Zukowski and
// others, Super-Scalar RAM-CPU Cache Compression, 2006). The bytes are:
//
//	1 byte            w; in it the bit 0x40 (the constant exceptional) is set if some numbers have
//	                  more than w bits
//	packed            the low w bits of each number
//	if it is set      the positions of the numbers with more than w bits, as a set; then, for each
//	                  such number v, the value (v >> w) - 1; appendNumbers writes these values
func appendNumbers(dst []byte, numbers []uint32) []byte {
	if len(numbers) < few {
		for _, v := range numbers {
			dst = binary.AppendUvarint(dst, uint64(v))
		}
		return dst
	}
	width, exceptions := bestWidth(numbers)
	if !exceptions {
		return pack(append(dst, byte(width)), numbers, width)
	}
	dst = pack(append(dst, byte(width)|exceptional), numbers, width)
	var wider set
	var more [BlockSize]uint32
	n := 0
	for i, v := range numbers {
		if v>>width != 0 {
			wider.add(i)
			more[n] = v>>width - 1
			n++
		}
	}
	return appendNumbers(appendSet(dst, wider, len(numbers)), more[:n])
}

// bestWidth returns the width, in bits, with which appendNumbers is likely to encode the numbers in
// the fewest bytes. The result exceptions is true if some numbers have more bits than this width.
// This is never so for all numbers.
func bestWidth(numbers []uint32) (width uint, exceptions bool) {
	var wide [33]int // how many numbers have each width
	widest := uint(0)
	for _, v := range numbers {
		n := uint(bits.Len32(v))
		wide[n]++
		widest = max(widest, n)
	}
	width, least := widest, packed(len(numbers), widest)
	wider := len(numbers)
	for w := range widest {
		wider -= wide[w]
		size := packed(len(numbers), w) + 1 + min(wider, (len(numbers)+7)/8) + 1 + packed(wider, widest-w)
		if size < least && wider < len(numbers) {
			width, least, exceptions = w, size, true
		}
	}
	return width, exceptions
}

// readNumbers reads len(numbers) numbers that appendNumbers wrote, and returns the
// bytes after them. ok is false if data is damaged.
func readNumbers(numbers []uint32, data []byte) (rest []byte, ok bool) {
	if len(numbers) < few {
		for i := range numbers {
			if numbers[i], data, ok = readNumber(data); !ok {
				return nil, false
			}
		}
		return data, true
	}
	if len(data) == 0 {
		return nil, false
	}
	width := uint(data[0] &^ exceptional)
	size := 1 + packed(len(numbers), width)
	if width > 32 || len(data) < size {
		return nil, false
	}
	unpack(numbers, data[1:], width)
	if data[0]&exceptional == 0 {
		return data[size:], true
	}
	return readExceptions(numbers, data[size:], width)
}

// readExceptions ends the reading of packed numbers. When it is called, each number in the slice has
// only its lowest bits, as many as the parameter width says. The higher bits of wider numbers are at
// the beginning of data: first the set of these numbers' indexes, then the bits. readExceptions adds
// the higher bits to the numbers. It returns the bytes that follow. ok is false if data is damaged.
func readExceptions(numbers []uint32, data []byte, width uint) (rest []byte, ok bool) {
	wider, data, ok := readSet(data, len(numbers))
	count := wider.count()
	if !ok || count == len(numbers) {
		return nil, false
	}
	var more [BlockSize]uint32
	if data, ok = readNumbers(more[:count], data); !ok {
		return nil, false
	}
	from := 0
	for i := range wider.each {
		numbers[i] |= (more[from] + 1) << width
		from++
	}
	return data, true
}

// readNumber reads one varint of at most 32 bits, and returns the bytes after it. ok is false if
// data is damaged.
func readNumber(data []byte) (v uint32, rest []byte, ok bool) {
	if len(data) > 0 && data[0] < 0x80 {
		return uint32(data[0]), data[1:], true
	}
	long, n := binary.Uvarint(data)
	if n <= 0 || long > 1<<32-1 {
		return 0, nil, false
	}
	return uint32(long), data[n:], true
}
