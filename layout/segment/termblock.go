package segment

import (
	"encoding/binary"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// termBlock is the size at which a block of terms is closed. A larger list has a block of
// its own.
const termBlock = 8 << 10

// termWriter writes terms with their lists in blocks, each followed by its
// positions.
type termWriter struct {
	chunks // closed blocks
	index  termIndex

	encoder postings.Encoder
	list    []byte

	block     []byte
	positions []byte // of the terms in the block
	count     uint32
	last      []byte // term
}

// add writes the encoder's list, if it is not empty, under a term. Terms must ascend.
func (w *termWriter) add(term []byte) {
	if w.encoder.Documents() == 0 {
		return
	}
	before := len(w.positions)
	w.list, w.positions = w.encoder.Append(w.list[:0], w.positions)
	w.encoder.Reset()
	w.write(term, before)
}

// addMoved writes a list and its positions under a term, with by added to every
// document. Terms must ascend.
func (w *termWriter) addMoved(term, list, positions []byte, by uint32) (err error) {
	if w.list, err = postings.AppendMoved(w.list[:0], list, by); err != nil {
		return err
	}
	before := len(w.positions)
	w.positions = append(w.positions, positions...)
	w.write(term, before)
	return nil
}

// write writes a term with its list. Its positions have been written already.
func (w *termWriter) write(term []byte, before int) {
	if len(w.block)+len(w.list) > termBlock && w.count > 0 {
		w.close(before)
		w.index.separate(separatorOf(w.last, term))
		before = 0
	}
	if w.count == 0 {
		w.last = w.last[:0]
	}
	w.block = appendFront(w.block, w.last, term)
	w.block = binary.AppendUvarint(w.block, uint64(len(w.list)))
	w.block = append(w.block, w.list...)
	w.block = binary.AppendUvarint(w.block, uint64(len(w.positions)-before))
	w.last = append(w.last[:0], term...)
	w.count++
}

// close closes the block with the first positions bytes of positions; the rest belongs
// to the next block.
func (w *termWriter) close(positions int) {
	from := len(w.content)
	w.content = seal(append(w.content, w.block...), from)
	w.index.add(int64(len(w.content)-from), int64(positions), w.count)
	w.content = appendPages(w.content, w.positions[:positions])
	w.spill()
	w.positions = append(w.positions[:0], w.positions[positions:]...)
	w.block, w.count = w.block[:0], 0
}

func (w *termWriter) finish() {
	if w.count > 0 {
		w.close(len(w.positions))
		w.index.separate(w.last)
	}
}

type termCursor interface {
	cursor
	// addTo adds the postings of the current term to the writer's encoder. If no
	// other cursor has the term it may write it itself. It is called once a term.
	addTo(w *termWriter, alone bool) error
}

// mergeTerms writes the terms of all cursors.
func mergeTerms(cursors []termCursor) (*termWriter, error) {
	w := new(termWriter)
	err := eachKey(cursors, func(term []byte, having []termCursor) error {
		for _, c := range having {
			if err := c.addTo(w, len(having) == 1); err != nil {
				return err
			}
		}
		w.add(term)
		return nil
	})
	w.finish()
	return w, err
}

// blockReader reads the terms of a block one after another. Its fields describe the
// current term.
type blockReader struct {
	p             parser
	term          []byte // valid until the next
	from, to      int    // where its list is
	offset, bytes int64  // of its positions among those of the block
	total         int64  // bytes of the block's positions
}

// open verifies and opens a block. total is the size of its positions.
func (r *blockReader) open(sealed []byte, total int64) error {
	content, err := unseal(sealed)
	if err != nil {
		return damaged("block of terms: %w", err)
	}
	*r = blockReader{p: parser{data: content}, term: r.term[:0], total: total}
	return nil
}

// next moves to the next term. It returns false at the end, or at damage (see err).
func (r *blockReader) next() bool {
	if r.p.left() == 0 {
		return false
	}
	r.term = r.p.front(r.term)
	r.to = r.p.count(1)
	r.from = r.p.at
	r.p.take(r.to)
	r.to += r.from
	r.offset += r.bytes
	r.bytes = int64(r.p.number(uint64(r.total - r.offset)))
	return !r.p.failed
}

func (r *blockReader) list() []byte { return r.p.data[r.from:r.to:r.to] }

func (r *blockReader) err() error {
	if r.p.failed {
		return damaged("block of terms does not hold what it tells of")
	}
	return nil
}
