package segment

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// memoryIndex is an inverted index of some documents in memory. After each document,
// its postings are packed into the bytes that they will be in a run.
type memoryIndex struct {
	text int // bytes of text of the documents, as the Builder counts them

	termOf map[string]uint32 // index in terms
	terms  []indexTerm
	packed int // packed bytes of all terms

	wordOf map[string]uint32 // index in words
	words  []indexWord
	hashes []uint32 // of the documents' identities
	from   uint32   // number of the first document

	// The document being added:
	tokens    []indexToken
	postings  []indexPosting
	positions []uint32
}

// indexTerm is a term of a memoryIndex.
type indexTerm struct {
	text    string
	packed  []byte // its postings, as in a run
	docs    uint32 // number of documents
	last    uint32 // the last of these documents
	posting uint32 // index in memoryIndex.postings for the document being added; 0 if the document lacks the term
}

// indexPosting is a term in the document being added.
type indexPosting struct {
	term uint32
	end  uint32 // where its positions end in memoryIndex.positions
	freq [postings.Fields]uint32
	hits postings.Hits
}

// indexToken is a token of the document being added: the index of its posting, and its
// position.
type indexToken struct{ posting, position uint32 }

// indexWord is a surface word of a memoryIndex.
type indexWord struct {
	text   string
	term   uint32             // index of the term of its last token
	docs   uint32             // number of documents
	last   uint32             // the last of these documents
	sample [sampleSize]uint32 // the documents with the lowest hashes, by hash
}

func newMemoryIndex() *memoryIndex {
	b := &memoryIndex{termOf: map[string]uint32{}, wordOf: map[string]uint32{}}
	b.reset()
	return b
}

// reset removes all documents. Its memory is reused, except that of strings.
func (b *memoryIndex) reset() {
	b.text, b.packed = 0, 0
	clear(b.termOf)
	clear(b.wordOf)
	clear(b.terms)
	clear(b.words)
	// Index 0 means none.
	b.terms = append(b.terms[:0], indexTerm{})
	b.words = append(b.words[:0], indexWord{})
	b.from += uint32(len(b.hashes))
	b.hashes = b.hashes[:0]
}

// size returns the approximate memory of the index, in bytes.
func (b *memoryIndex) size() int { return b.packed + 96*(len(b.terms)+len(b.words)) }

// add adds a document with these tokens. hash is that of its identity. It returns the
// number of tokens in each field.
func (b *memoryIndex) add(doc, hash uint32, tokens iter.Seq[Token]) (lengths [postings.Fields]uint32, err error) {
	b.hashes = append(b.hashes, hash)
	b.tokens = b.tokens[:0]
	b.postings = append(b.postings[:0], indexPosting{})
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
			b.postings = append(b.postings, indexPosting{term: n})
		}
		p := &b.postings[term.posting]
		p.freq[field]++
		p.hits |= t.Hits
		lengths[field]++
		b.tokens = append(b.tokens, indexToken{term.posting, position})
	}
	b.sortPositions()
	for i := range b.postings[1:] {
		b.packPosting(doc, &b.postings[1+i])
	}
	return lengths, nil
}

// termNumber returns the index of the token's term. If the token has a word, it finds
// the term by the word, which is faster, and counts the document for the word.
func (b *memoryIndex) termNumber(t *Token, doc uint32) uint32 {
	if t.Word == "" || len(t.Word) > MaxTerm {
		return b.lookUp(t.Term)
	}
	n, found := b.wordOf[t.Word]
	if !found {
		n = uint32(len(b.words))
		text := strings.Clone(t.Word)
		b.words = append(b.words, indexWord{text: text})
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

// lookUp returns the index of a term, which it adds if it is new.
func (b *memoryIndex) lookUp(term string) uint32 {
	n, found := b.termOf[term]
	if !found {
		n = uint32(len(b.terms))
		text := strings.Clone(term)
		b.terms = append(b.terms, indexTerm{text: text})
		b.termOf[text] = n
	}
	return n
}

// countWord counts a document that contains the word, and adds it to the word's sample
// if its hash is low enough. Documents must be counted in ascending order.
func (b *memoryIndex) countWord(w *indexWord, doc uint32) {
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

// sortPositions fills b.positions with the positions of all tokens, sorted by posting.
func (b *memoryIndex) sortPositions() {
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

// occurrences returns how often the document contains the term.
func (p *indexPosting) occurrences() uint32 {
	return p.freq[0] + p.freq[1] + p.freq[2] + p.freq[3]
}
