package segment

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// kind tells how the content of a column reads.
type kind byte

const (
	rowsKind    kind = 1 // as many bytes for each document
	numbersKind kind = 2 // a number for each document
	stringsKind kind = 3 // a set of strings for each document
	wordsKind   kind = 4 // vellum's transducer: word → documents that hold it
	samplesKind kind = 5 // some of the documents of each word
)

// maxColumn is the most that a column can be before compression, in bytes.
const maxColumn = 256 << 20

// appendPacked appends content, compressed where that makes it smaller: its
// size as a varint, a byte that is 1 if it is compressed, content.
func appendPacked(b, content []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(content)))
	flag := len(b)
	b = compress(append(b, 1), content)
	if len(b)-flag-1 >= len(content) {
		b = append(append(b[:flag], 0), content...)
	}
	return b
}

// unpack reads what appendPacked wrote; the content may be shared with packed.
func unpack(packed []byte) ([]byte, error) {
	p := parser{data: packed}
	size := int(p.number(maxColumn))
	compressed := p.number(1)
	content := p.take(p.left())
	if compressed == 1 {
		var err error
		if content, err = decompress(nil, content); err != nil {
			return nil, err
		}
	}
	if p.failed || len(content) != size {
		return nil, damaged("it holds %d bytes, not %d", len(content), size)
	}
	return content, nil
}

// column reads a column and returns its content.
func (s *Segment) column(ctx context.Context, name string, k kind) ([]byte, error) {
	for _, c := range s.tail.columns {
		if c.name != name || c.kind != k {
			continue
		}
		contents, err := s.read(ctx, []blob.Range{{Offset: c.offset, Length: c.size}})
		if err != nil {
			return nil, err
		}
		content, err := unseal(contents[0])
		if err == nil {
			content, err = unpack(content)
		}
		if err != nil {
			return nil, s.wrap(fmt.Errorf("column %s: %w", name, err))
		}
		return content, nil
	}
	return nil, s.wrap(fmt.Errorf("there is no such column of kind %d: %s", k, name))
}

// rows reads a column of rows of the given width.
func (s *Segment) rows(ctx context.Context, name string, width int) ([]byte, error) {
	content, err := s.column(ctx, name, rowsKind)
	if err == nil && len(content) != width*int(s.tail.documents) {
		err = s.wrap(damaged("column %s: %d bytes for %d documents", name, len(content), s.tail.documents))
	}
	return content, err
}
