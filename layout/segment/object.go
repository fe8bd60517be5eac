package segment

import "slices"

// object is a segment that is being written: stored blocks, then terms with
// their positions, then columns, then the tail.
type object struct {
	pieces
	tail
}

func newObject(capacity int) *object {
	o := &object{pieces: pieces{content: append(make([]byte, 0, max(capacity, 64<<10)), magic...)}}
	o.stored.start = int64(len(magic))
	return o
}

// join brings what was written together, with room for more.
func (o *object) join(more int) {
	if len(o.before) == 0 {
		o.content = slices.Grow(o.content, more)
	} else {
		o.content = o.moveTo(make([]byte, 0, o.length()+more))
	}
}

// writeColumn writes a column behind the one before.
func (o *object) writeColumn(name string, k kind, content []byte) {
	from := len(o.content)
	o.content = seal(appendPacked(o.content, content), from)
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
	o.join(terms.length() + len(columns.content) + tail)
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
