package segment

import (
	"encoding/binary"
	"math"
)

// appendCounts appends the number of a term's documents in each language. The parameter counts has
// one number for each of the segment's languages, in their order. If it is nil, nothing is
// appended. Otherwise varints are appended:
//
//	if all documents are in one language
//	    l·2 + 1, where l is the index of this language in counts. Their number is not written:
//	    it is that of the term's list.
//	if they are in n languages
//	    n·2, and then two numbers for each of these languages: how many languages of counts are
//	    skipped before it, and the number of its documents less 1.
//	    For example, counts 0, 3, 0, 0, 7 give the varints 4, 1, 2, 2, 6.
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

// allDocuments is a placeholder for the number of a term's documents in a language. If all documents
// of the term are in one language, the number is not stored with the counts by language. Then the
// reader of the counts sets the count of this language to allDocuments. Later, the function complete
// replaces it by the number of documents in the term's list.
const allDocuments = math.MaxUint32

// counts reads how many of a term's documents are in each language, as appendCounts has written it.
// It puts these numbers into the given slice, which has one element for each of the segment's
// languages, in their order. If all documents are in one language, appendCounts has left out their
// number. Then the element of this language becomes the placeholder allDocuments.
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

// In returns the number of the term's documents in the language with the given name, such as "en".
// known is false if the segment does not have these numbers: it is of version 2.
func (t *Term) In(name string) (documents uint32, known bool) {
	if t.counts == nil {
		return 0, false
	}
	if l := t.languages.find(name); l >= 0 {
		return t.counts[l], true
	}
	return 0, true
}

// complete ends the reading of a term's counts by language. If all documents of the term are in one
// language, the count of this language is still the placeholder allDocuments. complete replaces it
// by the parameter documents: the number of all documents of the term. It returns false if the
// counts do not add up to this number, which means damage.
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
