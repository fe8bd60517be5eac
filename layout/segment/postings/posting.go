package postings

import (
	"errors"
	"math"
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

// Impact is a frequency and a length code that no other of its field
// dominates: each posting of the block (or list) has, for each of its fields,
// an impact with at least its frequency and at most its length.
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
