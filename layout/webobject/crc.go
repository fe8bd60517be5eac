package webobject

import "hash/crc32"

// combineCRC returns the CRC-32 of two pieces joined, from those of the pieces
// and the size of the second, in O(log size). Polynomials over GF(2) modulo
// the CRC's have their lowest power in the highest bit: joining multiplies the
// first CRC by x^(8·size). (zlib, crc32_combine)
func combineCRC(first, second uint32, size int64) uint32 {
	product := uint32(1) << 31 // 1
	factor := uint32(1) << 23  // x^8
	for n := size; n > 0; n >>= 1 {
		if n&1 == 1 {
			product = multiply(factor, product)
		}
		factor = multiply(factor, factor)
	}
	return multiply(product, first) ^ second
}

func multiply(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		if a>>31 == 1 {
			product ^= b
		}
		carry := b & 1
		b >>= 1
		if carry == 1 {
			b ^= crc32.IEEE
		}
	}
	return product
}
