package postings

import (
	"encoding/binary"
	"math/bits"
)

// set is a set of a block's documents: bit i stands for the i-th document of the block.
type set [BlockSize / 64]uint64

// bitmap is the first byte of a set that is encoded as one bit for each index. A set
// that is encoded as a list of indexes begins with another byte.
const bitmap = 0x7F

// others is a bit of the first byte of a set that is encoded as a list of indexes. If the bit is 0,
// the list has the indexes in the set. If it is 1, the list has the indexes that are not in the
// set.
const others = 0x80

// all returns the set of the indexes below n.
func all(n int) (s set) {
	for i := range s {
		here := min(max(n-64*i, 0), 64)
		s[i] = 1<<here - 1
	}
	return s
}

func (s *set) add(i int)  { s[i/64] |= 1 << (i % 64) }
func (s *set) count() int { return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) }

func (s set) minus(t set) set { return set{s[0] &^ t[0], s[1] &^ t[1]} }

func (s set) each(yield func(i int) bool) {
	for half, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(64*half + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// appendSet appends a set of numbers below n. n must be at least 2. Of three encodings it takes the
// shortest: n bits, a list of the numbers in the set, or a list of the numbers below n that are not
// in the set.
func appendSet(dst []byte, s set, n int) []byte {
	size, absent := (n+7)/8, all(n).minus(s)
	list := func(kind byte, s set) []byte {
		dst = append(dst, kind|byte(s.count()))
		for i := range s.each {
			dst = append(dst, byte(i))
		}
		return dst
	}
	switch {
	case size > 2 && s.count() < size:
		return list(0, s)
	case size > 2 && absent.count() < size:
		return list(others, absent)
	case size > 2:
		dst = append(dst, bitmap)
	}
	var whole [BlockSize / 8]byte
	binary.LittleEndian.PutUint64(whole[:], s[0])
	binary.LittleEndian.PutUint64(whole[8:], s[1])
	return append(dst, whole[:size]...)
}

// readSet reads a set that appendSet wrote, and returns the bytes after it. ok is
// false if data is damaged.
func readSet(data []byte, n int) (s set, rest []byte, ok bool) {
	size := (n + 7) / 8
	if size > 2 {
		if len(data) == 0 {
			return s, nil, false
		}
		kind := data[0]
		data = data[1:]
		if kind != bitmap {
			return readList(data, kind, n)
		}
	}
	if len(data) < size {
		return s, nil, false
	}
	var whole [BlockSize / 8]byte
	copy(whole[:], data[:size])
	s[0] = binary.LittleEndian.Uint64(whole[:])
	s[1] = binary.LittleEndian.Uint64(whole[8:])
	return s, data[size:], s.minus(all(n)) == set{}
}

// readList reads a set that is written as a list. kind is the first byte of the set; data holds the
// bytes after that byte. All members are below n. ok is false if data is damaged.
func readList(data []byte, kind byte, n int) (s set, rest []byte, ok bool) {
	count := int(kind &^ others)
	if len(data) < count {
		return s, nil, false
	}
	for _, i := range data[:count] {
		if int(i) >= n {
			return s, nil, false
		}
		s.add(int(i))
	}
	if kind&others != 0 {
		s = all(n).minus(s)
	}
	return s, data[count:], true
}
