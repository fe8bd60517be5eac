package segment

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// batch inverts documents in memory. Data that grows with the tokens is packed at the
// end of each document, in the form that it will have in the run.
type batch struct {
	text int // bytes, for the builder

	termOf map[string]uint32
	terms  []batchTerm
	packed int // bytes of all terms

	wordOf map[string]uint32
	words  []batchWord
	hashes []uint32 // of the documents
	from   uint32   // the number of the first

	// of the document being added
	tokens    []batchToken
	postings  []batchPosting
	positions []uint32
}

type batchTerm struct {
	text    string
	packed  []byte // its postings, see run
	docs    uint32 // how many
	last    uint32 // of them
	posting uint32 // that of the document that is being added; 0 if it has none
}

type batchPosting struct {
	term uint32
	end  uint32 // of its positions
	freq [postings.Fields]uint32
	hits postings.Hits
}

type batchToken struct{ posting, position uint32 }

type batchWord struct {
	text   string
	term   uint32 // that it had last
	docs   uint32 // how many
	last   uint32 // of them
	sample [sampleSize]uint32
}

func newBatch() *batch {
	b := &batch{termOf: map[string]uint32{}, wordOf: map[string]uint32{}}
	b.reset()
	return b
}

// reset empties the batch and keeps its memory, except of strings.
func (b *batch) reset() {
	b.text, b.packed = 0, 0
	clear(b.termOf)
	clear(b.wordOf)
	clear(b.terms)
	clear(b.words)
	// Number 0 means none.
	b.terms = append(b.terms[:0], batchTerm{})
	b.words = append(b.words[:0], batchWord{})
	b.from += uint32(len(b.hashes))
	b.hashes = b.hashes[:0]
}

func (b *batch) size() int { return b.packed + 96*(len(b.terms)+len(b.words)) }

// add takes a document and returns the lengths of its fields.
func (b *batch) add(doc, hash uint32, tokens iter.Seq[Token]) (lengths [postings.Fields]uint32, err error) {
	b.hashes = append(b.hashes, hash)
	b.tokens = b.tokens[:0]
	b.postings = append(b.postings[:0], batchPosting{})
	field, position := 0, uint32(0)
	for t := range tokens {
		if t.Field != field || t.Position < position {
			if t.Field <= field || t.Field >= postings.Fields {
				return lengths, fmt.Errorf("token %.40q: field %d, position %d follows field %d, position %d", t.Term, t.Field, t.Position, field, position)
			}
			field = t.Field
		}
		position = t.Position
		if len(t.Term) == 0 || len(t.Term) > MaxTerm {
			return lengths, fmt.Errorf("term %.40q: %d bytes, want 1 to %d", t.Term, len(t.Term), MaxTerm)
		}
		n := b.termNumber(&t, doc)
		term := &b.terms[n]
		if term.posting == 0 {
			term.posting = uint32(len(b.postings))
			b.postings = append(b.postings, batchPosting{term: n})
		}
		p := &b.postings[term.posting]
		p.freq[field]++
		p.hits |= t.Hits
		lengths[field]++
		b.tokens = append(b.tokens, batchToken{term.posting, position})
	}
	b.sortPositions()
	for i := range b.postings[1:] {
		b.packPosting(doc, &b.postings[1+i])
	}
	return lengths, nil
}

// termNumber returns the number of the token's term. If the token has a word, it looks
// up the term by the word, and counts the word.
func (b *batch) termNumber(t *Token, doc uint32) uint32 {
	if t.Word == "" || len(t.Word) > MaxTerm {
		return b.lookUp(t.Term)
	}
	n, found := b.wordOf[t.Word]
	if !found {
		n = uint32(len(b.words))
		text := strings.Clone(t.Word)
		b.words = append(b.words, batchWord{text: text})
		b.wordOf[text] = n
	}
	w := &b.words[n]
	if w.docs == 0 || w.last != doc {
		b.countWord(w, doc)
	}
	if b.terms[w.term].text != t.Term {
		w.term = b.lookUp(t.Term)
	}
	return w.term
}

func (b *batch) lookUp(term string) uint32 {
	n, found := b.termOf[term]
	if !found {
		n = uint32(len(b.terms))
		text := strings.Clone(term)
		b.terms = append(b.terms, batchTerm{text: text})
		b.termOf[text] = n
	}
	return n
}

// countWord counts a document that holds the word; documents must not descend. It keeps
// the documents with the lowest hashes, the lowest first.
func (b *batch) countWord(w *batchWord, doc uint32) {
	n := min(w.docs, sampleSize)
	w.docs++
	w.last = doc
	hash := b.hashes[doc-b.from]
	i := n
	for i > 0 && hash < b.hashes[w.sample[i-1]-b.from] {
		i--
	}
	if i < sampleSize {
		copy(w.sample[i+1:], w.sample[i:n])
		w.sample[i] = doc
	}
}

func (b *batch) sortPositions() {
	end := uint32(0)
	for i := range b.postings {
		p := &b.postings[i]
		p.end = end
		end += p.occurrences()
	}
	b.positions = slices.Grow(b.positions[:0], len(b.tokens))[:len(b.tokens)]
	for _, t := range b.tokens {
		p := &b.postings[t.posting]
		b.positions[p.end] = t.position
		p.end++
	}
}

func (p *batchPosting) occurrences() uint32 {
	return p.freq[0] + p.freq[1] + p.freq[2] + p.freq[3]
}
