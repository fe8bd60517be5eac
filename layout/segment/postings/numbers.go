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

// load returns at least 57 bits of data as a number. Its lowest bit is the bit of data with the
// number at, counted from 0. Bits after the end of data are zero.
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

// write appends the low width bits of v to dst, as far as they fill bytes; w keeps the
// rest. The other bits of v must be zero; width is at most 56.
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

// longest limits the length of Rice's code: a gap whose code would begin with 16 ones or more
// is written as 16 ones and the 32 bits of the gap itself.
const longest = 16

// parameter returns the parameter k of Rice's code for the gaps between the positions of a
// term in a field. length is the code of the field's length (see LengthCode), freq the number
// of times that the field contains the term.
func parameter(length uint8, freq uint32) uint {
	mean := uint64(LengthOf(length)) * 13 / 16 / uint64(freq)
	return uint(max(1, bits.Len64(mean))) - 1
}

// appendRice appends the gap v in Rice's code with the parameter k, through the bitWriter w.
func appendRice(dst []byte, w *bitWriter, v uint32, k uint) []byte {
	ones := uint(v >> k)
	if ones >= longest {
		return w.write(dst, uint64(v)<<longest|(1<<longest-1), longest+32)
	}
	return w.write(dst, (uint64(v)&(1<<k-1))<<(ones+1)|(1<<ones-1), ones+1+k)
}

// readRice reads one gap in Rice's code with the parameter k. The gap begins at the
// bit of data with the number at. The result next is the number of the bit after the
// gap; it may be after the end of data.
func readRice(data []byte, at, k uint) (v uint32, next uint) {
	word := load(data, at)
	ones := uint(bits.TrailingZeros64(^word))
	if ones >= longest {
		return uint32(word >> longest), at + longest + 32
	}
	return uint32(ones<<(k&31)) | uint32(word>>(ones+1))&(1<<(k&31)-1), at + ones + 1 + k
}

// few is the least number of numbers that appendNumbers packs; fewer are written as single varints.
const few = 4

// exceptional is a bit of the byte that holds the width of packed numbers. It is set
// if some of the numbers have more bits than this width (see appendNumbers).
const exceptional = 0x40

// appendNumbers appends at most BlockSize numbers. If there are not as many as the
// constant few says, each is written as a varint; otherwise they are written by
// patched frame of reference (Zukowski and others, Super-Scalar RAM-CPU Cache
// Compression, 2006), with a width w (see bestWidth):
//
//	1 byte            w; with the bit exceptional if some numbers have more than w bits
//	packed            the low w bits of each number
//	if exceptional    the set of the numbers with more than w bits; for each such v
//	                  (v >> w) - 1, written by appendNumbers again
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

// bestWidth returns the width w, in bits, with which appendNumbers is estimated to take the
// fewest bytes. exceptions is true if some of the numbers have more than w bits; never all of
// them do.
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

// readExceptions completes numbers of which only the low width bits were read: it
// reads which of them have more bits, reads their high bits, and adds these to
// numbers. It returns the bytes after them; ok is false if data is damaged.
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
