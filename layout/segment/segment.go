package segment

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring"
	api "github.com/blugelabs/bluge_segment_api"
	"github.com/klauspost/compress/zstd"

	"github.com/bucketsearch/bucketsearch/layout"
)

// ErrDamaged is wrapped by the errors of Open.
var ErrDamaged = errors.New("segment is damaged")

// Segment is an opened segment. It is immutable and safe for concurrent use.
type Segment struct {
	postings api.Segment // nil when there is no document
	records  []byte
	rows     []byte
	decoder  *zstd.Decoder
	hidden   *roaring.Bitmap // nil when nothing is; see Without
}

// Open reads what Build returned and keeps it: content must not change
// afterwards. It verifies the checksum before anything else, so that a damaged
// segment gives an error that wraps ErrDamaged.
func Open(content []byte) (*Segment, error) {
	s, err := open(content)
	if err != nil {
		return nil, fmt.Errorf("cannot open segment of %d bytes: %w: %w", len(content), ErrDamaged, err)
	}
	return s, nil
}

func open(content []byte) (*Segment, error) {
	if len(content) < len(magic)+footerSize || string(content[:len(magic)]) != magic {
		return nil, errors.New("it does not begin as a segment of version 1")
	}
	footer := content[len(content)-footerSize:]
	sum := sha256.Sum256(content[:len(content)-sha256.Size])
	if string(sum[:]) != string(content[len(content)-sha256.Size:]) {
		return nil, errors.New("its checksum is wrong")
	}
	inner := content[len(magic) : len(content)-footerSize]
	postings, records, documents := binary.BigEndian.Uint64(footer), binary.BigEndian.Uint64(footer[8:]), binary.BigEndian.Uint64(footer[16:])
	size := uint64(len(inner))
	if postings > size || records > size-postings ||
		documents > math.MaxInt32 || documents*rowSize != size-postings-records {
		return nil, fmt.Errorf("its parts of %d and %d bytes and %d documents do not fit", postings, records, documents)
	}
	s := &Segment{
		records: inner[postings : postings+records],
		rows:    inner[postings+records:],
	}
	if err := s.checkRecords(); err != nil {
		return nil, err
	}
	var err error
	if s.decoder, err = newDecoder(); err != nil {
		return nil, err
	}
	if documents == 0 {
		return s, nil
	}
	if s.postings, err = loadPostings(inner[:postings]); err != nil {
		return nil, err
	}
	if s.postings.Count() != documents {
		return nil, fmt.Errorf("it has %d documents and postings for %d", documents, s.postings.Count())
	}
	return s, nil
}

func (s *Segment) checkRecords() error {
	last := uint64(0)
	for doc := range s.Documents() {
		end := s.recordEnd(doc)
		if end < last || end > uint64(len(s.records)) {
			return fmt.Errorf("the record of document %d ends at %d of %d bytes", doc, end, len(s.records))
		}
		last = end
	}
	return nil
}

// Documents returns how many documents the segment holds.
func (s *Segment) Documents() int { return len(s.rows) / rowSize }

func (s *Segment) row(doc int) []byte { return s.rows[doc*rowSize:][:rowSize] }

// Identity returns the identity of the i-th document.
func (s *Segment) Identity(i int) layout.Identity { return layout.Identity(s.row(i)) }

func (s *Segment) version(doc int) layout.Version {
	row := s.row(doc)
	return layout.Version{Epoch: binary.BigEndian.Uint64(row[16:]), Token: binary.BigEndian.Uint64(row[24:])}
}

func (s *Segment) recordEnd(doc int) uint64 { return binary.BigEndian.Uint64(s.row(doc)[32:]) }

// length returns the number of terms in a field of a document.
func (s *Segment) length(doc, field int) uint32 {
	return binary.BigEndian.Uint32(s.row(doc)[40+4*field:])
}

// document decompresses a document.
func (s *Segment) document(doc int) (Document, error) {
	start := uint64(0)
	if doc > 0 {
		start = s.recordEnd(doc - 1)
	}
	d, err := decodeRecord(s.records[start:s.recordEnd(doc)], s.decoder)
	if err != nil {
		return Document{}, fmt.Errorf("cannot read document %s: %w", s.Identity(doc), err)
	}
	return d, nil
}

// Document returns the i-th document with its body.
func (s *Segment) Document(i int) (Document, error) { return s.document(i) }
