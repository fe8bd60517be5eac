package segment

import (
	"encoding/binary"
	"math"
)

// appendCounts appends the number of a term's documents in each language; counts has one
// number for each of the segment's languages, in their order. It appends nothing if counts is nil.
// Otherwise, if the documents are
//
//	in one language      l·2+1, where l is the index of the language in counts; the
//	                     number of documents is known from the term's list
//	in n languages       n·2, and for each of them: the number of languages between it
//	                     and the one before, and its number of documents less 1
func appendCounts(dst []byte, counts []uint32) []byte {
	having, only := 0, 0
	for l, n := range counts {
		if n > 0 {
			having, only = having+1, l
		}
	}
	if having == 1 {
		return binary.AppendUvarint(dst, uint64(only)<<1|1)
	}
	if counts != nil {
		dst = binary.AppendUvarint(dst, uint64(having)<<1)
	}
	next := 0
	for l, n := range counts {
		if n > 0 {
			dst = binary.AppendUvarint(dst, uint64(l-next))
			dst = binary.AppendUvarint(dst, uint64(n-1))
			next = l + 1
		}
	}
	return dst
}

// allDocuments is the number that stands for all documents of a term's list in the
// counts by language, until their number is known (see complete).
const allDocuments = math.MaxUint32

// counts reads the number of a term's documents in each language, as appendCounts has written it.
// It stores the numbers in the slice counts, which has one element for each of the segment's
// languages, in their order. If all documents are in one language, the element of this language
// becomes allDocuments.
func (p *parser) counts(counts []uint32) {
	clear(counts)
	first := p.number(uint64(len(counts))<<1 | 1)
	if first&1 == 1 {
		if l := first >> 1; l < uint64(len(counts)) {
			counts[l] = allDocuments
		} else {
			p.fail()
		}
		return
	}
	next := uint64(0)
	for range first >> 1 {
		l := next + p.number(uint64(len(counts)))
		n := p.number(MaxDocuments)
		if l >= uint64(len(counts)) {
			p.fail()
			return
		}
		counts[l] = uint32(n + 1)
		next = l + 1
	}
}

// In returns the number of the term's documents in the language with the name, such as
// "en". known is false if the segment does not have these numbers: it is of version 2.
func (t *Term) In(name string) (documents uint32, known bool) {
	if t.counts == nil {
		return 0, false
	}
	if l := t.languages.find(name); l >= 0 {
		return t.counts[l], true
	}
	return 0, true
}

// complete replaces each allDocuments in a term's counts by language by the number of
// all documents of the term, the parameter documents. It returns false if the counts
// then do not add up to this number, and so are damaged.
func complete(counts []uint32, documents uint32) bool {
	sum := uint64(0)
	for l, n := range counts {
		if n == allDocuments {
			counts[l] = documents
		}
		sum += uint64(counts[l])
	}
	return sum == uint64(documents)
}
