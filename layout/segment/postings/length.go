package postings

import "math/bits"

// Lengths up to exact have a code of their own. Beyond, what is more than
// offset is kept as four significant bits and an exponent.
const (
	exact  = 40
	offset = 24
)

// LengthCode keeps a field's length in a byte, as Lucene's SmallFloat.intToByte4
// does: the length itself up to 40, then rounded down by less than an eighth;
// 255 from 2013265944 on. It is monotonic, and 0 only for 0.
func LengthCode(length uint32) uint8 {
	if length <= exact {
		return uint8(length)
	}
	rest := length - offset
	shift := uint32(bits.Len32(rest)) - 4
	return uint8(min(offset+shift<<3+rest>>shift, 255))
}

// LengthOf returns the least length that has the code.
func LengthOf(code uint8) uint32 {
	if code <= exact {
		return uint32(code)
	}
	rest := uint32(code) - offset
	shift := rest>>3 - 1
	return offset + (rest&7|8)<<shift
}
