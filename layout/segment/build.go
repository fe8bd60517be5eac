package segment

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	api "github.com/blugelabs/bluge_segment_api"
)

const (
	magic      = "\xFFBSEG\x01\r\n"
	rowSize    = 16 + 8 + 8 + 8 + 4*fieldCount
	footerSize = 8 + 8 + 8 + sha256.Size

	// batchText is how much text is indexed at once: ice needs some fifty times
	// as much memory. Batches are merged.
	batchText = 1 << 20
)

// Build returns the segment that holds the documents; there may be none. It
// fails if a document is larger than MaxRecord.
func Build(docs []Document) ([]byte, error) { return build(docs, batchText) }

func build(docs []Document, batch int) ([]byte, error) {
	b := builder{analyzer: newAnalyzer(), limit: batch}
	encoder, err := newEncoder()
	if err != nil {
		return nil, fmt.Errorf("cannot start compression: %w", err)
	}
	var records, rows []byte
	for i := range docs {
		d := &docs[i]
		if records, err = appendRecord(records, encoder, *d); err != nil {
			return nil, err
		}
		lengths, err := b.add(d)
		if err != nil {
			return nil, err
		}
		rows = append(rows, d.ID[:]...)
		rows = binary.BigEndian.AppendUint64(rows, d.Version.Epoch)
		rows = binary.BigEndian.AppendUint64(rows, d.Version.Token)
		rows = binary.BigEndian.AppendUint64(rows, uint64(len(records)))
		for _, length := range lengths {
			rows = binary.BigEndian.AppendUint32(rows, length)
		}
	}
	postings, err := b.finish()
	if err != nil {
		return nil, err
	}
	return seal(postings, records, rows), nil
}

// seal puts the parts of a segment together.
func seal(postings, records, rows []byte) []byte {
	content := make([]byte, 0, len(magic)+len(postings)+len(records)+len(rows)+footerSize)
	content = append(content, magic...)
	content = append(content, postings...)
	content = append(content, records...)
	content = append(content, rows...)
	content = binary.BigEndian.AppendUint64(content, uint64(len(postings)))
	content = binary.BigEndian.AppendUint64(content, uint64(len(records)))
	content = binary.BigEndian.AppendUint64(content, uint64(len(rows)/rowSize))
	sum := sha256.Sum256(content)
	return append(content, sum[:]...)
}

// builder indexes documents in batches.
type builder struct {
	analyzer *analyzer
	limit    int // bytes of text in a batch
	batch    []api.Document
	text     int // bytes in batch
	parts    []api.Segment
}

// add indexes a document and returns the lengths of its fields in terms.
func (b *builder) add(d *Document) (lengths [fieldCount]uint32, err error) {
	p := newPosted(b.analyzer, d)
	for f := range p.fields {
		lengths[f] = uint32(p.fields[f].length)
	}
	b.batch = append(b.batch, p)
	d.eachText(func(_ int, text string) { b.text += len(text) })
	if b.text >= b.limit {
		err = b.flush()
	}
	return lengths, err
}

func (b *builder) flush() error {
	if len(b.batch) == 0 {
		return nil
	}
	part, err := newPostings(b.batch)
	if err != nil {
		return err
	}
	b.parts = append(b.parts, part)
	b.batch, b.text = nil, 0
	return nil
}

func (b *builder) finish() ([]byte, error) {
	if err := b.flush(); err != nil {
		return nil, err
	}
	return mergePostings(b.parts)
}
