package segment

import (
	"encoding/binary"
	"slices"
)

// objectWriter holds a segment, or a part of one, while it is written: the bytes, and
// the tail that describes them.
type objectWriter struct {
	chunks
	tail
}

// newObjectWriter returns a writer of a segment. The writer holds only the magic bytes, and has
// memory for capacity bytes.
func newObjectWriter(capacity int) *objectWriter {
	o := &objectWriter{chunks: chunks{content: append(make([]byte, 0, max(capacity, 64<<10)), magic...)}}
	o.stored.start = int64(len(magic))
	return o
}

// join moves all bytes written so far into one piece of memory, with free space after them. The
// parameter more is the size of this space in bytes.
func (o *objectWriter) join(more int) {
	if len(o.before) == 0 {
		o.content = slices.Grow(o.content, more)
	} else {
		o.content = o.moveTo(make([]byte, 0, o.length()+more))
	}
}

// writeColumn appends a column and its checksum.
func (o *objectWriter) writeColumn(name string, k kind, content []byte) {
	from := len(o.content)
	o.content = seal(appendPacked(o.content, content), from)
	o.columns = append(o.columns, columnExtent{name: name, kind: k, offset: int64(from), size: int64(len(o.content) - from)})
}

// writeUnpacked appends a column that is not compressed as a whole, and its checksum. So readers can decompress
// only those parts of it that they need.
func (o *objectWriter) writeUnpacked(name string, k kind, content []byte) {
	from := len(o.content)
	o.content = append(binary.AppendUvarint(o.content, uint64(len(content))), 0)
	o.content = seal(append(o.content, content...), from)
	o.columns = append(o.columns, columnExtent{name: name, kind: k, offset: int64(from), size: int64(len(o.content) - from)})
}

// finish appends the terms, the columns and the tail to the stored blocks, and returns
// the whole segment.
func (o *objectWriter) finish(terms *termWriter, columns *objectWriter) []byte {
	const last = 64 << 10 // room for the tail, more than most need
	o.join(terms.length() + len(columns.content) + last)
	o.terms = terms.index
	o.terms.move(int64(len(o.content)))
	o.content = terms.moveTo(o.content)

	o.version, o.documents, o.fields, o.languages, o.parts = columns.version, columns.documents, columns.fields, columns.languages, columns.parts
	for _, c := range columns.columns {
		c.offset += int64(len(o.content))
		o.columns = append(o.columns, c)
	}
	o.content = append(o.content, columns.content...)
	return o.tail.appendTo(o.content)
}

// chunks is a growing sequence of bytes in several pieces of memory, so that a piece
// need not be copied when the sequence grows.
type chunks struct {
	before  [][]byte // all pieces before the last
	content []byte   // the last piece, to which bytes are appended
}

// spill begins a new piece of memory if the last one has 1 MiB or more.
func (p *chunks) spill() {
	const piece = 1 << 20
	if len(p.content) >= piece {
		p.before = append(p.before, p.content)
		p.content = make([]byte, 0, piece+piece/4)
	}
}

// length returns the number of bytes in all pieces.
func (p *chunks) length() int {
	n := len(p.content)
	for _, piece := range p.before {
		n += len(piece)
	}
	return n
}

// moveTo appends all pieces to b, and empties the sequence.
func (p *chunks) moveTo(b []byte) []byte {
	for i, piece := range p.before {
		b = append(b, piece...)
		p.before[i] = nil
	}
	b = append(b, p.content...)
	*p = chunks{}
	return b
}

// Distinct returns a copy of a segment with the same documents but other bytes: its tail contains
// the number. So the copy has another content hash, and can be stored under another key after the
// segment's key was condemned (listed for deletion). Number 0 gives the segment itself. The content
// must be a segment that Finish or Merge returned; otherwise Distinct panics.
func Distinct(content []byte, number uint64) []byte {
	s, err := OpenBytes(content)
	if err != nil {
		panic(err) // content is no segment
	}
	t := *s.tail
	t.copy = number
	end := t.end()
	return t.appendTo(append(make([]byte, 0, len(content)+16), content[:end]...))
}
