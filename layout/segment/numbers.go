package segment

import (
	"context"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// The names of the columns of numbers. Each column has one number for each document.
const (
	Dates = "date" // Document.Fetched, in milliseconds since 1970, an int64
	// TitleLengths has the number of tokens in the title; HeadingsLengths, AddressLengths and
	// BodyLengths have the number of tokens in the other fields
	TitleLengths    = "length.title"
	HeadingsLengths = "length.headings"
	AddressLengths  = "length.address"
	BodyLengths     = "length.body"
	TitleHashes     = "hash.title"
	TextHashes      = "hash.text"
	Simhashes       = "hash.similar"
	Epochs          = "version.epoch"
	Tokens          = "version.token"
	Offsets         = "place.offset" // offset of the compressed page in its package, in bytes
	Lengths         = "place.length" // length of the compressed page, in bytes
	Translations    = "translation"  // Document.Translation; segments of older programs have no such column
	// OwnDates has Document.Date, in days since 1970, plus 1; 0 if the date is not known. Segments of
	// older programs have no such column.
	OwnDates = "own date"
)

// The names of the columns that hold a row of bytes for each document, all rows of one size.
const (
	identities = "identity"
	sketches   = "sketch"
)

// Numbers returns a column of numbers, one for each document. It makes one call of Source.Read. If
// the segment lacks the column Translations or OwnDates, Numbers returns that column with 0 for
// each document.
func (s *Segment) Numbers(ctx context.Context, column string) ([]uint64, error) {
	if (column == Translations || column == OwnDates) && !s.hasColumn(column) {
		return make([]uint64, s.tail.documents), nil
	}
	content, err := s.column(ctx, column, numbersKind)
	if err != nil {
		return nil, err
	}
	p := parser{data: content}
	values := p.numbers(int(s.tail.documents))
	if p.failed || p.left() > 0 {
		return nil, s.wrap(damaged("column %s does not hold what it tells of", column))
	}
	return values, nil
}

// Versions returns the version of each document: the number of the batch that fetched the page, by
// which versions of a page are ordered. It reads the columns Epochs and Tokens.
func (s *Segment) Versions(ctx context.Context) ([]layout.Version, error) {
	epochs, err := s.Numbers(ctx, Epochs)
	if err != nil {
		return nil, err
	}
	tokens, err := s.Numbers(ctx, Tokens)
	if err != nil {
		return nil, err
	}
	versions := make([]layout.Version, len(epochs))
	for i := range versions {
		versions[i] = layout.Version{Epoch: epochs[i], Token: tokens[i]}
	}
	return versions, nil
}

// Identities returns the identity of each document, a hash of its URL. It reads one column.
func (s *Segment) Identities(ctx context.Context) ([]layout.Identity, error) {
	rows, err := s.rows(ctx, identities, len(layout.Identity{}))
	if err != nil {
		return nil, err
	}
	ids := make([]layout.Identity, s.tail.documents)
	for i := range ids {
		ids[i] = layout.Identity(rows[i*len(ids[i]):])
	}
	return ids, nil
}

// Sketch is a fingerprint of a document's text by which similar texts are found (see
// functions/shared/document/fingerprint).
type Sketch = [16]uint16

const sketchSize = 2 * len(Sketch{})

// Sketches reads the column with the sketch of each document.
func (s *Segment) Sketches(ctx context.Context) ([]Sketch, error) {
	rows, err := s.rows(ctx, sketches, sketchSize)
	if err != nil {
		return nil, err
	}
	all := make([]Sketch, s.tail.documents)
	for i := range all {
		for j := range all[i] {
			all[i][j] = binary.BigEndian.Uint16(rows[i*sketchSize+2*j:])
		}
	}
	return all, nil
}

func appendSketch(b []byte, sketch *Sketch) []byte {
	for _, n := range sketch {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return b
}

// appendNumbers encodes numbers by their differences from the lowest number. It
// appends the lowest number as a varint; one byte w, the size of the greatest
// difference in bytes; then the differences of w bytes, byte by byte: the highest byte
// of each difference, then the next byte of each, and so on.
func appendNumbers(b []byte, values []uint64) []byte {
	if len(values) == 0 {
		return b
	}
	lowest, highest := slices.Min(values), slices.Max(values)
	width := (bits.Len64(highest-lowest) + 7) / 8
	b = append(binary.AppendUvarint(b, lowest), byte(width))
	for plane := width - 1; plane >= 0; plane-- {
		for _, v := range values {
			b = append(b, byte((v-lowest)>>(8*plane)))
		}
	}
	return b
}

// numbers reads n numbers that appendNumbers wrote.
func (p *parser) numbers(n int) []uint64 {
	if n == 0 {
		return nil
	}
	lowest := p.number(1<<64 - 1)
	width := int(p.number(8))
	if n > MaxDocuments || n*width > p.left() {
		p.fail()
		return nil
	}
	values := make([]uint64, n)
	for range width {
		for i, b := range p.take(n) {
			values[i] = values[i]<<8 | uint64(b)
		}
	}
	for i := range values {
		values[i] += lowest
	}
	return values
}
