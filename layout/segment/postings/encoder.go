package postings

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Fields is the number of fields of a document: 0 title, 1 headings,
// 2 address, 3 body.
const Fields = 4

// NoMore is the document behind the last; no document has this number.
const NoMore = math.MaxUint32

// BlockSize is the number of documents of a block; only a list's last block
// may hold fewer.
const BlockSize = 128

// ErrDamaged is wrapped by every error that bytes can cause.
var ErrDamaged = errors.New("damaged postings")

// Hits says how a term looks in a document, any of its occurrences (Brin and
// Page, The Anatomy of a Large-Scale Hypertextual Web Search Engine, 1998,
// section 4.2.5).
type Hits uint8

// The bits of Hits.
const (
	Capitals Hits = 1 << iota
	Large
	Emphasis
)

// Posting is one document of a list.
type Posting struct {
	Doc    uint32         // below NoMore
	Freq   [Fields]uint32 // occurrences in each field, at least one in all
	Length [Fields]uint8  // LengthCode of each field; kept where Freq > 0, reads 0 elsewhere
	Hits   Hits
}

// Impact is a frequency and a length code in one field. The impacts of a block (or
// list) bound the scores of its postings: for each posting and each field that has the
// term, there is an impact with at least that frequency and at most that length code.
// Only the necessary ones are kept: in each field, a higher frequency comes with a
// higher length code.
type Impact struct {
	Field  uint8
	Freq   uint32
	Length uint8
}

// Summary is what a list says of itself without being walked.
type Summary struct {
	Documents      uint32         // at least 1
	Last           uint32         // the last document
	FieldDocuments [Fields]uint32 // documents with Freq > 0
	Impacts        []Impact       // of the whole list, by field, then by frequency
	Positions      uint32         // bytes of the list's positions
}

// Encoder makes one list after another. Its zero value is ready.
type Encoder struct {
	documents      int
	fieldDocuments [Fields]uint32
	next           uint32 // the least document that may be added

	pending [BlockSize]Posting // the block that is being gathered
	count   int
	base    uint32 // the least document that the block could hold

	directory, blocks []byte // of the blocks before
	impacts, whole    frontier

	positions []byte // of all blocks
	bits      bitWriter
	from      int // where the block's positions begin

	source source // see AddList
}

// Reset forgets what was added and keeps the memory.
func (e *Encoder) Reset() {
	e.documents, e.fieldDocuments, e.next = 0, [Fields]uint32{}, 0
	e.count, e.base = 0, 0
	e.directory, e.blocks = e.directory[:0], e.blocks[:0]
	e.impacts.reset()
	e.whole.reset()
	e.positions, e.bits, e.from = e.positions[:0], bitWriter{}, 0
}

// Documents returns how many were added since Reset.
func (e *Encoder) Documents() int { return e.documents }

// Add appends a posting; documents ascend and are below NoMore. positions holds
// the Freq[0] positions of field 0, ascending (equal ones allowed), then those
// of field 1, and so on. Nothing is kept of the slice. It panics if these
// promises are broken.
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
		e.addPositions(positions[:freq], parameter(p.Length[field], freq))
		positions = positions[freq:]
	}
	if len(positions) > 0 {
		panic(fmt.Sprintf("postings: more positions than occurrences in document %d", p.Doc))
	}
	p.Hits &= Capitals | Large | Emphasis
	e.end(p)
}

func (e *Encoder) begin(doc uint32) {
	if doc < e.next || doc == NoMore {
		panic(fmt.Sprintf("postings: document %d added where at least %d is due", doc, e.next))
	}
	if e.count == BlockSize {
		e.closeBlock()
	}
}

// end takes a posting whose positions were written since begin.
func (e *Encoder) end(p Posting) {
	for field, freq := range p.Freq {
		if freq > 0 {
			e.fieldDocuments[field]++
		}
	}
	e.pending[e.count] = p
	e.count++
	e.documents++
	e.next = p.Doc + 1
}

// addPositions appends the gaps between a field's positions.
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

// closeBlock encodes the gathered block and writes its entry.
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
	e.blocks = appendPayload(appendDocuments(e.blocks, pending, e.base), pending)
	e.positions = e.bits.flush(e.positions)

	// As many documents as the block has lie between base and its last.
	e.directory = binary.AppendUvarint(e.directory, uint64(e.next-e.base)-uint64(e.count))
	e.directory = binary.AppendUvarint(e.directory, uint64(len(e.blocks)-before))
	e.directory = binary.AppendUvarint(e.directory, uint64(len(e.positions)-e.from))
	e.directory = e.impacts.append(e.directory)
	e.base, e.count, e.from = e.next, 0, len(e.positions)
}

// Append appends the list and its positions to the slices; nothing, if no
// document was added. Reset must follow.
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
		return appendPayload(appendDocuments(list, pending, 0), pending), positions
	}
	for _, documents := range e.fieldDocuments {
		list = binary.AppendUvarint(list, uint64(documents))
	}
	list = e.whole.append(list)
	list = append(list, e.directory...)
	return append(list, e.blocks...), positions
}

// many is the size of positions that does not fit into a list's first number.
const many = 15

func appendHeader(dst []byte, documents, positions uint64) []byte {
	dst = binary.AppendUvarint(dst, documents<<4|min(positions, many))
	if positions >= many {
		dst = binary.AppendUvarint(dst, positions-many)
	}
	return dst
}

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
