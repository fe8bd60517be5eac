package postings

import (
	"encoding/binary"
	"math/bits"
)

// few: fewer numbers are written one by one.
const few = 4

// exceptional is the bit of a width's byte that says that exceptions follow.
const exceptional = 0x40

// appendNumbers appends at most BlockSize numbers, packed to the width that
// makes them smallest. Behind them follow the set of those that are wider, and
// the rest of their bits, less one, as numbers again (after the patched frame of
// reference: Zukowski and others, Super-Scalar RAM-CPU Cache Compression, 2006).
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

// bestWidth returns a width that needs few bytes, and whether some numbers, but
// not all, are wider.
func bestWidth(numbers []uint32) (width uint, exceptions bool) {
	var wide [33]int // numbers by their width
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

// readNumbers fills numbers and returns what follows them, false if damaged.
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

// readExceptions adds the bits beyond width.
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

// readNumber reads one varint of at most 32 bits.
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
