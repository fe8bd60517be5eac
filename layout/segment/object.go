package segment

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"

	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
)

// objectWriter holds a segment, or a part of one, while it is written: the bytes, and
// the tail that describes them.
type objectWriter struct {
	chunks
	tail
}

// newObjectWriter returns a writer of a segment, which holds only the magic bytes. It collects the bytes in the file,
// or in memory if the file is nil.
func newObjectWriter(file *scratch.File) *objectWriter {
	o := &objectWriter{chunks: chunks{file: file, content: append(make([]byte, 0, 64<<10), magic...)}}
	o.stored.start = int64(len(magic))
	return o
}

// writeColumn appends a column and its checksum.
func (o *objectWriter) writeColumn(name string, k kind, content []byte) {
	from := len(o.content)
	o.content = appendPacked(o.content, content)
	o.closeColumn(name, k, from, len(content))
}

// writeUnpacked appends a column that is not compressed as a whole, and its checksum. So readers can decompress
// only those parts of it that they need.
func (o *objectWriter) writeUnpacked(name string, k kind, content []byte) {
	from := len(o.content)
	o.content = append(binary.AppendUvarint(o.content, uint64(len(content))), 0)
	o.content = append(o.content, content...)
	o.closeColumn(name, k, from, len(content))
}

// writePages appends a column that is divided into pages (see appendPages), and its checksum. Its bytes, without the
// checksums of pages, come in rows, which are total bytes together. It fails if there is an error instead of a row.
func (o *objectWriter) writePages(name string, k kind, total int64, rows iter.Seq2[[]byte, error]) error {
	size := int(sizeInPages(total))
	o.checkSize(name, size)
	begin, from, crc := o.length(), len(o.content), uint32(0)
	o.content = append(binary.AppendUvarint(o.content, uint64(size)), 0)
	var page []byte
	for row, err := range rows {
		if err != nil {
			return err
		}
		for page = append(page, row...); len(page) >= pageContent; page = page[:copy(page, page[pageContent:])] {
			o.content = appendPages(o.content, page[:pageContent])
			if len(o.content) >= piece {
				crc = crc32.Update(crc, castagnoli, o.content[from:])
				o.push()
				from = 0
			}
		}
	}
	o.content = appendPages(o.content, page)
	crc = crc32.Update(crc, castagnoli, o.content[from:])
	o.content = binary.BigEndian.AppendUint32(o.content, crc)
	o.columns = append(o.columns, columnExtent{name: name, kind: k, offset: begin, size: o.length() - begin})
	o.spill()
	return nil
}

// closeColumn ends the column that begins at o.content[from]. The parameter size is its size before compression, in
// bytes.
func (o *objectWriter) closeColumn(name string, k kind, from, size int) {
	o.checkSize(name, size)
	o.content = seal(o.content, from)
	o.columns = append(o.columns, columnExtent{name: name, kind: k, offset: o.spilled + int64(from), size: int64(len(o.content) - from)})
	o.spill()
}

// checkSize lets the whole segment fail (see chunks.err) if a column has more bytes before compression than readers
// accept.
func (o *objectWriter) checkSize(name string, size int) {
	if size > maxColumn && o.err == nil {
		o.err = fmt.Errorf("%w: column %s would be %d bytes, at most %d are allowed", ErrTooLarge, name, size, maxColumn)
	}
}

// finish appends the terms, the columns and the tail to the stored blocks. Then the segment is complete.
func (o *objectWriter) finish(terms *termWriter, columns *objectWriter) {
	o.terms = terms.index
	o.terms.move(o.length())
	o.take(&terms.chunks)

	o.version, o.documents, o.fields, o.languages, o.parts = columns.version, columns.documents, columns.fields, columns.languages, columns.parts
	o.lengths = columns.lengths
	for _, c := range columns.columns {
		c.offset += o.length()
		o.columns = append(o.columns, c)
	}
	o.take(&columns.chunks)
	o.content = o.tail.appendTo(o.content, o.spilled)
}

// chunks is a growing sequence of bytes in several pieces, so that a piece need not be copied when the sequence
// grows. All pieces before the last are in memory or, if there is a file, in the file.
type chunks struct {
	file    *scratch.File // nil: all pieces are in memory
	before  [][]byte      // all pieces before the last, if they are in memory
	spilled int64         // number of bytes in all pieces before the last
	content []byte        // the last piece, to which bytes are appended
	err     error         // first error of writing to the file, or of content that is too large
}

// piece is the size of a piece in bytes, except the last one and large ones that are appended at once.
const piece = 1 << 20

// spill begins a new piece if the last one has 1 MiB or more.
func (p *chunks) spill() {
	if len(p.content) >= piece {
		p.push()
	}
}

// push begins a new piece.
func (p *chunks) push() {
	p.spilled += int64(len(p.content))
	if p.file == nil {
		p.before = append(p.before, p.content)
		p.content = make([]byte, 0, piece+piece/4)
		return
	}
	if p.err == nil {
		_, p.err = p.file.Write(p.content)
	}
	p.content = p.content[:0]
}

// length returns the number of bytes in all pieces.
func (p *chunks) length() int64 { return p.spilled + int64(len(p.content)) }

// take appends all bytes of another sequence, which must not be used any more. Both sequences have a file, or none.
func (p *chunks) take(other *chunks) {
	if p.err == nil {
		p.err = other.err
	}
	if p.file == nil {
		p.before = append(append(p.before, p.content), other.before...)
		p.spilled, p.content = p.length()+other.spilled, other.content
		return
	}
	p.push()
	other.push()
	p.spilled += other.spilled
	if p.err == nil {
		p.err = cmp.Or(other.err, p.file.Take(other.file))
	}
}

// joined returns all bytes as one slice, and the first error of writing them. Bytes in a file are mapped: they can be
// used until the file is closed. There is room for some more bytes after the end. The sequence must not be used
// afterwards.
func (p *chunks) joined() ([]byte, error) {
	const room = 16 // more than Distinct needs
	if p.file != nil {
		p.push()
		if p.err != nil {
			return nil, p.err
		}
		return p.file.Map(room)
	}
	all := make([]byte, 0, p.length()+room)
	for i, piece := range p.before {
		all = append(all, piece...)
		p.before[i] = nil
	}
	return append(all, p.content...), p.err
}

// Distinct returns a segment with the same documents as content but other bytes: its tail contains
// the number. So it has another content hash, and can be stored under another key after the
// segment's key was condemned (listed for deletion). Number 0 gives the segment itself. The content
// must be a segment that Finish or Merge returned; otherwise Distinct panics. The new segment takes the
// memory of the old one, whose tail is overwritten.
func Distinct(content []byte, number uint64) []byte {
	s, err := OpenBytes(content)
	if err != nil {
		panic(err) // content is no segment
	}
	t := *s.tail
	t.copy = number
	end := t.end()
	return t.appendTo(content[:end], 0)
}
