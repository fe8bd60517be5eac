package segment

import "slices"

// builder is a segment being written: stored blocks, terms with their positions,
// columns, tail.
type builder struct {
	chunks
	tail
}

func newObject(capacity int) *builder {
	o := &builder{chunks: chunks{content: append(make([]byte, 0, max(capacity, 64<<10)), magic...)}}
	o.stored.start = int64(len(magic))
	return o
}

// join joins the pieces written so far, with room for more bytes.
func (o *builder) join(more int) {
	if len(o.before) == 0 {
		o.content = slices.Grow(o.content, more)
	} else {
		o.content = o.moveTo(make([]byte, 0, o.length()+more))
	}
}

func (o *builder) writeColumn(name string, k kind, content []byte) {
	from := len(o.content)
	o.content = seal(appendPacked(o.content, content), from)
	o.columns = append(o.columns, columnPlace{name: name, kind: k, offset: int64(from), size: int64(len(o.content) - from)})
}

// finish appends terms and columns to the stored blocks, and then the tail. It returns
// the whole object.
func (o *builder) finish(terms *termWriter, columns *builder) []byte {
	const last = 64 << 10 // more than most need
	o.join(terms.length() + len(columns.content) + last)
	o.terms = terms.index
	o.terms.move(int64(len(o.content)))
	o.content = terms.moveTo(o.content)

	o.documents, o.fields, o.languages, o.parts = columns.documents, columns.fields, columns.languages, columns.parts
	for _, c := range columns.columns {
		c.offset += int64(len(o.content))
		o.columns = append(o.columns, c)
	}
	o.content = append(o.content, columns.content...)
	return o.tail.appendTo(o.content)
}

// chunks is a growing sequence of bytes in several pieces of memory, so that none has to
// be copied when it grows.
type chunks struct {
	before  [][]byte // of content
	content []byte
}

// spill begins a new piece when the last one is large.
func (p *chunks) spill() {
	const piece = 1 << 20
	if len(p.content) >= piece {
		p.before = append(p.before, p.content)
		p.content = make([]byte, 0, piece+piece/4)
	}
}

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

// Distinct returns another segment of the same documents as one that Finish or Merge
// returned. Each number gives other bytes, for a content hash that was never used.
// Number 0 gives the segment itself.
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
