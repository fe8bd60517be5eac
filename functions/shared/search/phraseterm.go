package search

import (
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// phraseTerm is a term of a phrase at a document.
type phraseTerm struct {
	entry  *segment.Term
	it     postings.Iterator
	doc    uint32
	freq   *[postings.Fields]uint32 // none if the document does not hold the term
	length *[postings.Fields]uint8

	blocks    []segment.Positions // that are needed, in the order of documents
	content   [][]byte            // what they hold
	block     int                 // the current document's
	positions []uint32            // of the document, all fields
	decoded   bool                // whether they are
}

// open makes it a term, and keeps its memory.
func (t *phraseTerm) open(entry *segment.Term) {
	t.entry, t.blocks, t.content, t.block = entry, t.blocks[:0], nil, 0
}

// start moves to the first document.
func (t *phraseTerm) start() {
	t.it.Reset(t.entry.List)
	t.doc = t.it.Next()
}

var noFreq [postings.Fields]uint32

// advance moves to a document, or behind it.
func (t *phraseTerm) advance(doc uint32) {
	if t.doc < doc {
		t.doc = t.it.Advance(doc)
	}
	t.freq, t.length, t.decoded = &noFreq, nil, false
	if t.doc == doc {
		t.freq, t.length, _ = t.it.Payload()
	}
}

// place returns where the positions of the current document lie.
func (t *phraseTerm) place() segment.Positions {
	offset, length := t.it.PositionBlock()
	return segment.Positions{Term: t.entry, Offset: offset, Length: length}
}

// note notes that the positions of the current document are needed.
func (t *phraseTerm) note() {
	if r := t.place(); len(t.blocks) == 0 || t.blocks[len(t.blocks)-1] != r {
		t.blocks = append(t.blocks, r)
	}
}

// in returns the term's positions in a field of the current document.
func (t *phraseTerm) in(f int) ([]uint32, error) {
	if !t.decoded {
		place := t.place()
		for t.block < len(t.blocks) && t.blocks[t.block] != place {
			t.block++
		}
		if t.block == len(t.blocks) {
			return nil, fmt.Errorf("positions of %q at document %d: %w", t.entry.Text, t.doc, segment.ErrDamaged)
		}
		var err error
		if t.positions, err = t.it.Positions(t.content[t.block], t.positions[:0]); err != nil {
			return nil, fmt.Errorf("positions of %q at document %d: %w: %w", t.entry.Text, t.doc, segment.ErrDamaged, err)
		}
		t.decoded = true
	}
	from := uint32(0)
	for _, n := range t.freq[:f] {
		from += n
	}
	if uint64(from)+uint64(t.freq[f]) > uint64(len(t.positions)) {
		return nil, fmt.Errorf("positions of %q at document %d: %w", t.entry.Text, t.doc, segment.ErrDamaged)
	}
	return t.positions[from:][:t.freq[f]], nil
}
