package segment

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// termBlock is the size, in bytes, above which a block of terms is closed. A term whose list of
// postings is larger has a block of its own.
const termBlock = 8 << 10

// termWriter writes terms and their lists of postings in blocks. The positions of a block's terms
// follow the block.
type termWriter struct {
	chunks           // closed blocks and their positions
	index  termIndex // directory of the closed blocks

	encoder   postings.Encoder // postings of the next term
	list      []byte           // the encoded list of the next term
	languages []byte           // for the next term: how many documents it has in each language, encoded by appendCounts

	block     []byte // encoded terms of the open block
	positions []byte // positions of the terms in the open block
	count     uint32 // number of terms in the open block
	last      []byte // the term that was added last
}

// add writes a term with the postings in w.encoder, and empties the encoder. It does
// nothing if the encoder has no postings. Terms must be added in the order of their bytes.
func (w *termWriter) add(term []byte) {
	if w.encoder.Documents() == 0 {
		return
	}
	before := len(w.positions)
	w.list, w.positions = w.encoder.Append(w.list[:0], w.positions)
	w.languages = appendCounts(w.languages[:0], w.encoder.Counts())
	w.encoder.Reset()
	w.write(term, before)
}

// addCopied writes a term whose positions and list are copied from another segment. The caller has put the list into
// w.list (see postings.AppendRenumbered). The last parameter is the number of documents with the term in each
// language. Terms must be added in the order of their bytes.
func (w *termWriter) addCopied(term, positions []byte, counts []uint32) {
	before := len(w.positions)
	w.positions = append(w.positions, positions...)
	w.languages = appendCounts(w.languages[:0], counts)
	w.write(term, before)
}

// write adds a term to the open block. If the block is full, write closes it first, and begins
// another. The caller has put the term's encoded list of postings into w.list, and has appended its
// positions to w.positions. The parameter before is the length of w.positions without them.
func (w *termWriter) write(term []byte, before int) {
	if len(w.block)+len(w.list) > termBlock && w.count > 0 {
		w.close(before)
		w.index.separate(termSeparator(w.last, term))
		before = 0
	}
	if w.count == 0 {
		w.last = w.last[:0]
	}
	w.block = appendFront(w.block, w.last, term)
	w.block = binary.AppendUvarint(w.block, uint64(len(w.list)))
	w.block = append(w.block, w.list...)
	w.block = append(w.block, w.languages...)
	w.last = append(w.last[:0], term...)
	w.count++
}

// termSeparator returns a string s with a <= s < b, which separates the blocks (see termIndex) that end with the term a
// and begin with b. If possible, s is not below the marked forms of a (see NameTerm and DefinitionTerm), which most terms
// lack. So whoever looks for a term and its marked forms reads one block. A frequent term has a block of its own, and
// between this and the next one are megabytes of positions.
func termSeparator(a, b []byte) []byte {
	s := separatorOf(a, b)
	unmarked := bytes.TrimRight(a, imageMark+nameMark+definitionMark)
	marked := slices.Concat(unmarked, []byte(definitionMark+imageMark))
	if len(marked) <= MaxTerm && bytes.Compare(s, marked) < 0 && bytes.Compare(marked, b) < 0 {
		return marked
	}
	return s
}

// close closes the open block, and writes its positions after it. These are the first bytes of
// w.positions; the parameter says how many. The other bytes of w.positions belong to the first term
// of the next block.
func (w *termWriter) close(positions int) {
	from := len(w.content)
	w.content = seal(append(w.content, w.block...), from)
	w.index.add(int64(len(w.content)-from), int64(positions), w.count)
	w.content = appendPages(w.content, w.positions[:positions])
	w.spill()
	w.positions = append(w.positions[:0], w.positions[positions:]...)
	w.block, w.count = w.block[:0], 0
}

// finish closes the last block, and sets its separator; call it after the last term.
func (w *termWriter) finish() {
	if w.count > 0 {
		w.close(len(w.positions))
		w.index.separate(w.last)
	}
}

// termCursor walks the terms of a run (see run) or of a segment in ascending order.
type termCursor interface {
	cursor
	// addTo adds the postings of the current term to w.encoder, where they are merged with those of
	// other cursors. The parameter alone is true if no other cursor has this term. Then addTo may
	// instead copy the term to w without decoding it. addTo is called once for each term.
	addTo(w *termWriter, alone bool) error
}

// mergeTerms merges the terms of all cursors into the empty writer w, and returns it. The writer also
// counts each term's documents by language. For this, the parameter of has the number of each
// document's language, from 0, and n is the number of languages.
func mergeTerms(w *termWriter, cursors []termCursor, of []uint16, n int) (*termWriter, error) {
	w.encoder.CountBy(of, n)
	w.encoder.WithoutLengths()
	err := eachKey(cursors, func(term []byte, having []termCursor) error {
		for _, c := range having {
			if err := c.addTo(w, len(having) == 1); err != nil {
				return err
			}
		}
		w.add(term)
		return w.err
	})
	w.finish()
	return w, err
}

// blockReader reads the terms of a block, one after another.
type blockReader struct {
	p             parser
	term          []byte // the current term; valid until the next call of next
	from, to      int    // range of the term's list in the block
	offset, bytes int64  // offset and size, in bytes, of the term's positions within the positions of the block
	total         int64  // size of all positions of the block, in bytes

	version byte     // version of the segment
	counts  []uint32 // number of the term's documents in each language; nil in segments of version 2
}

// open checks the checksum of a block and begins to read it. total is the size of the block's
// positions in bytes; t is the tail of the block's segment.
func (r *blockReader) open(sealed []byte, total int64, t *tail) error {
	content, err := unseal(sealed)
	if err != nil {
		return damaged("block of terms: %w", err)
	}
	r.reopen(content, total, t)
	return nil
}

// reopen begins to read a block again from its beginning. The checksum must have been verified already. The
// parameter content has the bytes of the block without it.
func (r *blockReader) reopen(content []byte, total int64, t *tail) {
	counts := r.counts[:0]
	if t.version > 2 {
		counts = slices.Grow(counts, len(t.languages))[:len(t.languages)]
	}
	*r = blockReader{p: parser{data: content}, term: r.term[:0], total: total, version: t.version, counts: counts}
}

// next moves the reader to the next term. It returns false after the last term, and also if the
// block is damaged: then the method err returns an error.
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
	if r.p.failed {
		return false
	}
	if r.version > 3 {
		_, positions, ok := postings.Sizes(r.list())
		if r.bytes = int64(positions); !ok || r.bytes > r.total-r.offset {
			r.p.fail()
		}
	} else {
		r.bytes = int64(r.p.number(uint64(r.total - r.offset)))
	}
	if r.version > 2 {
		r.p.counts(r.counts)
	}
	return !r.p.failed
}

func (r *blockReader) list() []byte { return r.p.data[r.from:r.to:r.to] }

func (r *blockReader) err() error {
	if r.p.failed {
		return damaged("block of terms does not hold what it tells of")
	}
	return nil
}
