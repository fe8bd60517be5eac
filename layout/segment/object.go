package segment

import (
	"slices"

	"github.com/klauspost/compress/zstd"
)

// object is a segment that is being written: stored blocks, then terms and
// positions, then columns, then the tail.
type object struct {
	before  [][]byte // of content
	content []byte
	tail
	encoder *zstd.Encoder
}

func newObject(capacity int) (*object, error) {
	encoder, err := newEncoder()
	if err != nil {
		return nil, err
	}
	o := &object{content: append(make([]byte, 0, max(capacity, 64<<10)), magic...), encoder: encoder}
	o.stored.start = int64(len(magic))
	return o, nil
}

// spill begins a new piece of memory once the last is large, so that none has to
// grow.
func (o *object) spill() {
	const piece = 1 << 20
	if len(o.content) >= piece {
		o.before = append(o.before, o.content)
		o.content = make([]byte, 0, piece+piece/4)
	}
}

// join brings what was written together, with room for more.
func (o *object) join(more int) {
	if len(o.before) == 0 {
		o.content = slices.Grow(o.content, more)
		return
	}
	for _, piece := range o.before {
		more += len(piece)
	}
	content := make([]byte, 0, more+len(o.content))
	for _, piece := range o.before {
		content = append(content, piece...)
	}
	o.before, o.content = nil, append(content, o.content...)
}

// newColumns returns an object to write columns to, and nothing else.
func newColumns() (*object, error) {
	encoder, err := newEncoder()
	return &object{encoder: encoder}, err
}

// writeColumn writes a column behind the one before.
func (o *object) writeColumn(name string, k kind, content []byte) {
	from := len(o.content)
	o.content = seal(appendPacked(o.content, content, o.encoder), from)
	o.columns = append(o.columns, column{name: name, kind: k, offset: int64(from), size: int64(len(o.content) - from)})
}

// writeWords writes the words of all cursors.
func (o *object) writeWords(cursors []wordCursor, hashes []uint32) error {
	transducer, sampled, err := mergeWords(cursors, hashes)
	if err != nil {
		return err
	}
	o.writeColumn(words, wordsKind, transducer)
	o.writeColumn(samples, samplesKind, sampled)
	return nil
}

// finish writes what was written apart behind the stored blocks, and the tail.
// It returns the whole object.
func (o *object) finish(terms *termWriter, columns *object) []byte {
	const tail = 64 << 10 // more than most need
	o.join(len(terms.content) + int(sizeInPages(terms.positions.size())) + len(columns.content) + tail)
	o.terms = terms.index
	o.terms.move(int64(len(o.content)))
	o.content = append(o.content, terms.content...)
	o.positions = terms.positions.size()
	o.content = terms.positions.appendTo(o.content)

	o.documents, o.fields, o.languages, o.parts = columns.documents, columns.fields, columns.languages, columns.parts
	for _, c := range columns.columns {
		c.offset += int64(len(o.content))
		o.columns = append(o.columns, c)
	}
	o.content = append(o.content, columns.content...)
	return o.tail.appendTo(o.content)
}
