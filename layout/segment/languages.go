package segment

import (
	"encoding/binary"
	"math"
)

// appendCounts appends the numbers of a term's documents by language, none if there are
// no counts:
//
//	l·2+1          all documents are in language l, of the tail's
//	n·2            n languages; for each of them
//	…                how many languages lie between it and the one before
//	…                its documents less 1
//
// A single language does without its number of documents, which the list tells.
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

// allDocuments stands for the number of documents of a term's list.
const allDocuments = math.MaxUint32

// counts reads what appendCounts wrote into counts, one number for each language of the
// tail; a single language has allDocuments.
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

// In returns the number of the term's documents in a language. known is false if the
// segment, of version 2, does not tell.
func (t *Term) In(name string) (documents uint32, known bool) {
	if t.counts == nil {
		return 0, false
	}
	if l := t.languages.find(name); l >= 0 {
		return t.counts[l], true
	}
	return 0, true
}

// complete completes a term's counts by language: where one is allDocuments, it puts
// documents, the number of documents in the term's list. It reports whether the counts
// then add up to that number.
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
