package postings

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Fields is the number of fields of a document: 0 is the title, 1 the headings, 2 the
// address, 3 the body.
const Fields = 4

// NoMore stands for the document after the last one of a list of postings; no document has this
// number.
const NoMore = math.MaxUint32

// BlockSize is the number of documents in a block of a list of postings; only the last block may
// hold fewer.
const BlockSize = 128

// ErrDamaged is wrapped by an error that is caused by damaged bytes of a list or its positions.
var ErrDamaged = errors.New("damaged postings")

// Hits says how a term is set in the text of a document, such as in capitals. Each bit stands
// for one way, such as Capitals, and is set if any occurrence of the term is set in this way
// (Brin and Page, The Anatomy of a Large-Scale Hypertextual Web Search Engine, 1998, section
// 4.2.5).
type Hits uint8

// The bits of Hits.
const (
	Capitals Hits = 1 << iota
	Large
	Emphasis
)

// Posting is one document of a list, with the occurrences of the term in it.
type Posting struct {
	Doc    uint32         // number of the document, below NoMore
	Freq   [Fields]uint32 // number of occurrences in each field, at least one in all fields together
	Length [Fields]uint8  // LengthCode of each field; has no meaning in a decoded posting if Freq is 0
	Hits   Hits
}

// Lengths has the length codes of each document's fields (see LengthCode). A document is an index.
type Lengths [][Fields]uint8

// Impact is a frequency of a term in one field, and a length code of that field. A higher frequency
// scores higher, and so does a lower length code. The impacts of a block (or list) bound the scores
// of its postings: for each posting, and each field with the term, some impact scores at least as
// high. Its frequency is not lower than the posting's, and its length code not higher.
//
// An impact is left out if another one has at least its frequency and at most its length code. For
// example, frequency 2 with code 25 is left out beside frequency 3 with code 20. So, within a
// field, impacts with higher frequencies have higher length codes.
type Impact struct {
	Field  uint8
	Freq   uint32
	Length uint8
}

// Summary holds figures of a whole list of postings, such as its number of documents.
type Summary struct {
	Documents      uint32         // number of documents in the list, at least 1
	Last           uint32         // number of the last document
	FieldDocuments [Fields]uint32 // for each field, number of documents with Freq > 0
	Impacts        []Impact       // impacts of the whole list, by field, then by frequency
	Positions      uint32         // size of the list's positions, in bytes
}

// Encoder encodes lists of postings, one after another. The zero Encoder is ready for use.
type Encoder struct {
	documents      int
	fieldDocuments [Fields]uint32
	next           uint32 // lowest number that the next document may have

	pending [BlockSize]Posting // postings of the open block, which is not encoded yet
	count   int                // number of postings in the open block
	base    uint32             // one more than the last document of the block before; 0 for the first block

	directory, blocks []byte    // entries of the closed blocks in the list's directory; encoded bytes of these blocks
	impacts, whole    impactSet // impacts of the block being closed, and of all closed blocks

	positions []byte // encoded positions of all blocks
	bits      bitWriter
	from      int // index in Encoder.positions at which the positions of the open block begin

	source source // the list that AddList is adding; kept to reuse its memory

	withoutLengths bool      // whether lists of version 2 are encoded
	apart          distances // the variable apart then, otherwise zeros

	groups []uint16 // group of each document (see CountBy); nil if groups are not counted
	counts []uint32 // number of documents in each group, such as a language; nil if groups are not counted
}

// Reset removes all documents. The memory that they took is used again for the next ones.
func (e *Encoder) Reset() {
	e.documents, e.fieldDocuments, e.next = 0, [Fields]uint32{}, 0
	e.count, e.base = 0, 0
	e.directory, e.blocks = e.directory[:0], e.blocks[:0]
	e.impacts.reset()
	e.whole.reset()
	e.positions, e.bits, e.from = e.positions[:0], bitWriter{}, 0
	clear(e.counts)
}

// CountBy assigns documents to groups: groups[doc] is the group of document doc, a number from 0 to
// n-1. From now on the encoder counts, for each list, the documents of each group. Counts returns
// these numbers.
func (e *Encoder) CountBy(groups []uint16, n int) {
	e.groups, e.counts = groups, make([]uint32, n)
}

// WithoutLengths makes the encoder write lists of version 2, which lack the length codes, because these are the same in
// the lists of all terms. Whoever reads such a list must have the Lengths of its documents.
func (e *Encoder) WithoutLengths() { e.withoutLengths, e.apart = true, apart }

// Counts returns how many documents of each group were added since Reset (see CountBy); nil if
// CountBy was not called. The result is valid until the next call of a method.
func (e *Encoder) Counts() []uint32 { return e.counts }

// Documents returns the number of documents that were added since Reset.
func (e *Encoder) Documents() int { return e.documents }

// Add adds a posting. Documents must be added in the order of their numbers, which are
// below NoMore. The parameter positions holds the positions in ascending order (equal ones
// are allowed), field by field: p.Freq[0] of them for field 0, then p.Freq[1] for field 1,
// and so on; Add does not keep the slice. It panics if its arguments break these rules.
func (e *Encoder) Add(p Posting, positions []uint32) {
	e.begin(p.Doc)
	for field, freq := range p.Freq {
		if freq == 0 {
			p.Length[field] = 0
			continue
		}
		if uint64(freq) > uint64(len(positions)) {
			panic(fmt.Sprintf("postings: fewer positions than occurrences in document %d", p.Doc))
		}
		e.addPositions(positions[:freq], e.apart.parameter(field, p.Length[field], freq))
		positions = positions[freq:]
	}
	if len(positions) > 0 {
		panic(fmt.Sprintf("postings: more positions than occurrences in document %d", p.Doc))
	}
	p.Hits &= Capitals | Large | Emphasis
	e.end(p)
}

// begin is the first step of adding a document: it closes the open block if that is full.
// The caller then writes the document's positions, and calls end.
func (e *Encoder) begin(doc uint32) {
	if doc < e.next || doc == NoMore {
		panic(fmt.Sprintf("postings: document %d added where at least %d is due", doc, e.next))
	}
	if e.count == BlockSize {
		e.closeBlock()
	}
}

// end is the last step of adding a document: it adds the posting to the open block. Between the
// calls of begin and end, the caller must write the document's positions.
func (e *Encoder) end(p Posting) {
	for field, freq := range p.Freq {
		if freq > 0 {
			e.fieldDocuments[field]++
		}
	}
	if e.groups != nil {
		e.counts[e.groups[p.Doc]]++
	}
	e.pending[e.count] = p
	e.count++
	e.documents++
	e.next = p.Doc + 1
}

// addPositions writes the positions of the term in one field. It writes the gaps between them in
// Rice's code; k is the parameter of this code.
func (e *Encoder) addPositions(positions []uint32, k uint) {
	last := uint32(0)
	for _, position := range positions {
		if position < last {
			panic(fmt.Sprintf("postings: position %d after %d", position, last))
		}
		e.positions = appendRice(e.positions, &e.bits, position-last, k)
		last = position
	}
}

// closeBlock encodes the open block, and adds its entry to the directory.
func (e *Encoder) closeBlock() {
	pending := e.pending[:e.count]
	e.impacts.reset()
	for i := range pending {
		e.impacts.addPosting(&pending[i].Freq, &pending[i].Length)
	}
	for _, impacts := range e.impacts {
		for _, impact := range impacts {
			e.whole.add(impact)
		}
	}
	before := len(e.blocks)
	e.blocks = e.appendBlock(e.blocks, pending, e.base)
	e.positions = e.bits.flush(e.positions)

	// Of the documents from base to the block's last, e.count are in the block.
	e.directory = binary.AppendUvarint(e.directory, uint64(e.next-e.base)-uint64(e.count))
	e.directory = binary.AppendUvarint(e.directory, uint64(len(e.blocks)-before))
	e.directory = binary.AppendUvarint(e.directory, uint64(len(e.positions)-e.from))
	e.directory = e.impacts.append(e.directory)
	e.base, e.count, e.from = e.next, 0, len(e.positions)
}

// appendBlock appends the encoded block of some postings. The parameter base is the lowest number that the block can
// contain.
func (e *Encoder) appendBlock(dst []byte, postings []Posting, base uint32) []byte {
	return appendPayload(appendDocuments(dst, postings, base), postings, !e.withoutLengths)
}

// Append appends the encoded list to the first slice, and the encoded positions of the list to the
// second. It returns both slices. If no document was added, it appends nothing. Reset must be
// called afterwards.
func (e *Encoder) Append(list, positions []byte) (newList, newPositions []byte) {
	if e.documents == 0 {
		return list, positions
	}
	if e.documents > BlockSize {
		e.closeBlock()
	}
	e.positions = e.bits.flush(e.positions)
	list = appendHeader(list, uint64(e.documents), uint64(len(e.positions)))
	positions = append(positions, e.positions...)
	if e.documents <= BlockSize {
		pending := e.pending[:e.count]
		return e.appendBlock(list, pending, 0), positions
	}
	for _, documents := range e.fieldDocuments {
		list = binary.AppendUvarint(list, uint64(documents))
	}
	list = e.whole.append(list)
	list = append(list, e.directory...)
	return append(list, e.blocks...), positions
}

// The first number of a list has four bits for the size, in bytes, of the list's positions. The
// constant many is the greatest value of these bits. A size of many or more is written as many, and
// a second number holds the excess.
const many = 15

// appendHeader appends the header of a list: the number of its documents, and the size
// of its positions in bytes.
func appendHeader(dst []byte, documents, positions uint64) []byte {
	dst = binary.AppendUvarint(dst, documents<<4|min(positions, many))
	if positions >= many {
		dst = binary.AppendUvarint(dst, positions-many)
	}
	return dst
}

// Constants of the length code, which encodes a length in a byte (see LengthCode). A length up to
// 40 is its own code. For a greater length, the code stands for length - 24 in binary: for its four
// highest bits, and for the number of bits after them. The values of those later bits are lost.
const (
	exact  = 40
	offset = 24
)

// LengthCode encodes the length of a field, in tokens, in a byte, as Lucene's
// SmallFloat.intToByte4 does. A greater length never has a lower code.
//
//	length                code
//	0 to 40               the length itself
//	above 40              40 to 255: LengthOf(code) is the length, rounded down by less than an eighth
//	from 2,013,265,944    always 255
func LengthCode(length uint32) uint8 {
	if length <= exact {
		return uint8(length)
	}
	rest := length - offset
	shift := uint32(bits.Len32(rest)) - 4
	return uint8(min(offset+shift<<3+rest>>shift, 255))
}

// LengthOf returns the least length of a field, in tokens, for which LengthCode returns the code.
func LengthOf(code uint8) uint32 {
	if code <= exact {
		return uint32(code)
	}
	rest := uint32(code) - offset
	shift := rest>>3 - 1
	return offset + (rest&7|8)<<shift
}
