package segment

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// The names of the columns by which documents are found by their identities.
const (
	filterColumn = "identity.filter"
	orderColumn  = "identity.order"
)

// identityFilter tells whether a segment may have a document with a wanted identity (hash of a URL, 128 bits). It
// does not store identities whole. It stores 24 bits of each, and groups the identities in buckets by their first
// bits, which need not be stored then (see doc.go for the bytes).
//
//	wanted identity             answer
//	one that the segment has    always right
//	one that it lacks           wrong with a probability below 2 in 2^24
//
// The filter has the documents in the order of the bits that it knows. The number of a document in this order,
// from 0, is its rank. The column orderColumn has the numbers of the documents by rank.
type identityFilter struct {
	// for each bucket, as many bits 1 as the bucket has documents, then a bit 0. The first of these bits is the
	// lowest bit of the first word.
	buckets []uint64
	rests   []byte // for each rank, the restBits bits of the identity after those of the bucket
	bits    int    // number of first bits of an identity that make the number of its bucket
}

const (
	restSize = 3
	restBits = 8 * restSize
)

// bucketBits returns how many of the first bits of an identity make the number of its bucket. It is the greatest
// number with which there are at most as many buckets as documents. So a bucket has, on average, at least one
// document and fewer than two. The parameter is the number of documents of the segment, which must not be 0.
func bucketBits(documents uint32) int { return bits.Len32(documents) - 1 }

// bucketsSize returns the size in bytes of the part of a filter that says how many documents each bucket has.
func bucketsSize(documents uint32) int { return (int(documents) + 1<<bucketBits(documents) + 7) / 8 }

// filterSize returns the size in bytes of the filter of a segment's documents, without its checksum.
func filterSize(documents uint32) int { return bucketsSize(documents) + restSize*int(documents) }

// firstBits returns the first n bits of an identity, which are at most 64.
func firstBits(id layout.Identity, n int) uint64 { return binary.BigEndian.Uint64(id[:]) >> (64 - n) }

// newFilter returns the contents of the columns filterColumn and orderColumn for documents with the given
// identities. The parameter has 16 bytes for each document, in the order of their numbers, and must not be empty.
func newFilter(identities []byte) (filter, order []byte) {
	documents := len(identities) / len(layout.Identity{})
	n := bucketBits(uint32(documents))
	type place struct {
		bits uint64 // the first bits of the identity: the number of its bucket, and the rest
		doc  uint32
	}
	places := make([]place, documents)
	for doc := range places {
		id := layout.Identity(identities[doc*len(layout.Identity{}):])
		places[doc] = place{firstBits(id, n+restBits), uint32(doc)}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.bits, b.bits), cmp.Compare(a.doc, b.doc))
	})
	filter = make([]byte, bucketsSize(uint32(documents)), filterSize(uint32(documents)))
	numbers := make([]byte, 0, orderWidth(uint32(documents))*documents)
	for rank, p := range places {
		// index of the document's bit 1: before it are a 1 for each lower rank, and a 0 for each lower bucket
		at := uint64(rank) + p.bits>>restBits
		filter[at/8] |= 1 << (at % 8)
		filter = append(filter, byte(p.bits>>16), byte(p.bits>>8), byte(p.bits))
		numbers = appendNumber(numbers, p.doc, orderWidth(uint32(documents)))
	}
	return filter, appendPages(nil, numbers)
}

// parseFilter decodes the content of the column filterColumn of a segment.
func parseFilter(content []byte, documents uint32) (*identityFilter, error) {
	if documents == 0 || len(content) != filterSize(documents) {
		return nil, damaged("filter of %d bytes for %d documents", len(content), documents)
	}
	size := bucketsSize(documents)
	f := &identityFilter{buckets: make([]uint64, (size+7)/8), rests: content[size:], bits: bucketBits(documents)}
	ones := 0
	for i := range f.buckets {
		var word [8]byte
		copy(word[:], content[8*i:min(8*i+8, size)])
		f.buckets[i] = binary.LittleEndian.Uint64(word[:])
		ones += bits.OnesCount64(f.buckets[i])
	}
	last := int(documents) + 1<<f.bits - 1 // index of the bit 0 of the last bucket
	if ones != int(documents) || f.buckets[last/64]>>(last%64) != 0 {
		return nil, damaged("filter of %d documents for %d", ones, documents)
	}
	return f, nil
}

// ranks returns, in ascending order, the ranks of those documents that may have one of the wanted identities,
// because the bits that the filter knows are equal. The wanted identities must be in ascending order.
func (f *identityFilter) ranks(wanted []layout.Identity) (found []uint32) {
	word, zeros := 0, uint64(0) // a word of f.buckets; number of bits 0 in the words before it
	for i, id := range wanted {
		first := firstBits(id, f.bits+restBits)
		if i > 0 && first == firstBits(wanted[i-1], f.bits+restBits) {
			continue
		}
		bucket, begin := first>>restBits, uint64(0) // begin: index of the first bit of the bucket
		if bucket > 0 {                             // it follows the bucket-th bit 0
			for n := zerosIn(f.buckets[word]); zeros+n < bucket; n = zerosIn(f.buckets[word]) {
				zeros += n
				word++
			}
			begin = uint64(64*word) + nthZero(f.buckets[word], bucket-zeros) + 1
		}
		rest := uint32(first) & (1<<restBits - 1)
		for at := begin; f.buckets[at/64]>>(at%64)&1 == 1; at++ {
			rank := uint32(at - bucket)
			if b := f.rests[restSize*rank:]; uint32(b[0])<<16|uint32(b[1])<<8|uint32(b[2]) == rest {
				found = append(found, rank)
			}
		}
	}
	return found
}

func zerosIn(word uint64) uint64 { return uint64(64 - bits.OnesCount64(word)) }

// nthZero returns the index of the n-th bit 0 of a word, counted from 1. The word must have n such bits or more.
func nthZero(word, n uint64) uint64 {
	word = ^word
	for ; n > 1; n-- {
		word &= word - 1
	}
	return uint64(bits.TrailingZeros64(word))
}

// orderWidth returns the size in bytes, 1 to 3, of each number in the column orderColumn. A number never lies in
// two pages of the column, because pageContent is divisible by 1, 2 and 3.
func orderWidth(documents uint32) int { return max(1, (bits.Len32(documents-1)+7)/8) }

func appendNumber(b []byte, n uint32, width int) []byte {
	for i := width - 1; i >= 0; i-- {
		b = append(b, byte(n>>(8*i)))
	}
	return b
}

func numberAt(b []byte) (n uint32) {
	for _, next := range b {
		n = n<<8 | uint32(next)
	}
	return n
}
