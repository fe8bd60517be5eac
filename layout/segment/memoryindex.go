package segment

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// memoryIndex is an inverted index, in memory, of some documents. When it is large enough, it is
// sorted and encoded as a run (see run). Only the postings are encoded earlier: those of a document
// get the encoding of a run as soon as the document has been added.
type memoryIndex struct {
	text int // size of the text of all documents in the index (see textSize), in bytes

	termOf map[string]uint32 // for each term without a Token.TermNumber, its index in memoryIndex.terms
	terms  []indexTerm
	packed int // sum of the sizes of indexTerm.packed, in bytes

	wordOf map[string]uint32 // for each word without a Token.WordNumber, its index in memoryIndex.words
	words  []indexWord
	hashes []uint32 // hash of each document's identity (see hashOf)
	from   uint32   // number of the first document in the index

	numbered []numbered // entry i says where to find the string to which the caller has given the number i

	// These fields describe the document that is being added. postingOf and counted are not fields of
	// indexTerm and indexWord, because they are read for each token: in slices of their own they lie so
	// close together that they stay in the processor's cache.
	tokens    []indexToken
	postings  []indexPosting
	positions []uint32
	postingOf []uint32 // for each of terms, the index of its posting in the field postings; 0 if the document lacks the term
	counted   []uint32 // for each of words, 1 + the number of the last document with the word; 0 if there is none

	candidates []candidate // memory for reuse by the method vector
	chosen     Vector
}

// indexTerm is a term of a memoryIndex, with its postings in all documents added so far.
type indexTerm struct {
	text   string
	packed []byte // postings of the term, encoded as in a run (see run)
	docs   uint32 // number of documents with the term
	last   uint32 // number of the last document with the term
	vectorHash
	ofImage bool // whether it is a term of an image (see ImageTerm)
}

// indexPosting is one term of the document being added, with all its occurrences.
type indexPosting struct {
	term uint32
	end  uint32 // index in memoryIndex.positions at which the term's positions end
	freq [postings.Fields]uint32
	hits postings.Hits
}

// indexToken is a token of the document that the method add is adding. posting is the index of the
// posting for the token's term; position is the token's position in its field.
type indexToken struct{ posting, position uint32 }

// indexWord is the entry of a word in a memoryIndex, in the spelling of the pages (not
// reduced to a term).
type indexWord struct {
	text   string
	docs   uint32             // number of documents with the word
	sample [sampleSize]uint32 // of the documents with the word, those with the lowest identity hashes; sorted by hash
}

// numbered is the entry of a string to which the caller of Add has given a number (see
// Token.TermNumber). The field term is the index of the string in memoryIndex.terms, and the field
// word its index in memoryIndex.words. An index is 0 if the string is not in that slice yet.
type numbered struct{ term, word uint32 }

func newMemoryIndex() *memoryIndex {
	b := &memoryIndex{termOf: map[string]uint32{}, wordOf: map[string]uint32{}}
	b.reset()
	return b
}

// reset removes all documents. Their memory, except that of strings, is reused for later
// documents.
func (b *memoryIndex) reset() {
	b.text, b.packed = 0, 0
	clear(b.termOf)
	clear(b.wordOf)
	clear(b.terms)
	clear(b.words)
	clear(b.numbered)
	// Index 0 means none.
	b.terms = append(b.terms[:0], indexTerm{})
	b.words = append(b.words[:0], indexWord{})
	b.postingOf, b.counted = append(b.postingOf[:0], 0), append(b.counted[:0], 0)
	b.from += uint32(len(b.hashes))
	b.hashes = b.hashes[:0]
}

// size returns the approximate memory of the index, in bytes.
func (b *memoryIndex) size() int { return b.packed + 96*(len(b.terms)+len(b.words)) }

// add adds a document with its tokens to the index. The parameters are the number of the document,
// the hash of its identity, and its tokens. The results are the number of tokens in each field,
// without those of images, and the vector of the document, which is valid until the next call.
func (b *memoryIndex) add(doc, hash uint32, tokens iter.Seq[Token]) (lengths [postings.Fields]uint32, vector Vector, err error) {
	b.hashes = append(b.hashes, hash)
	b.tokens = b.tokens[:0]
	b.postings = append(b.postings[:0], indexPosting{})
	field, position := 0, uint32(0)
	for t := range tokens {
		if t.Field != field || t.Position < position {
			if t.Field <= field || t.Field >= postings.Fields {
				return lengths, nil, fmt.Errorf("token %.40q: field %d, position %d follows field %d, position %d", t.Term, t.Field, t.Position, field, position)
			}
			field = t.Field
		}
		position = t.Position
		if len(t.Term) == 0 || len(t.Term) > MaxTerm {
			return lengths, nil, fmt.Errorf("term %.40q: %d bytes, want 1 to %d", t.Term, len(t.Term), MaxTerm)
		}
		if t.Word != "" && len(t.Word) <= MaxTerm {
			b.countWord(b.wordIndex(&t), doc)
		}
		n := b.termIndex(&t)
		if b.postingOf[n] == 0 {
			b.postingOf[n] = uint32(len(b.postings))
			b.postings = append(b.postings, indexPosting{term: n})
		}
		posting := b.postingOf[n]
		p := &b.postings[posting]
		p.freq[field]++
		p.hits |= t.Hits
		b.tokens = append(b.tokens, indexToken{posting, position})
	}
	b.sortPositions()
	vector = b.vector()
	for i := range b.postings[1:] {
		p := &b.postings[1+i]
		if !b.terms[p.term].ofImage {
			for f, n := range p.freq {
				lengths[f] += n
			}
		}
		b.packPosting(doc, p)
	}
	return lengths, vector, nil
}

// termIndex returns the token's term as an index in b.terms. It adds the term if it is new.
func (b *memoryIndex) termIndex(t *Token) uint32 {
	if t.TermNumber > 0 {
		n := b.numberedBy(t.TermNumber)
		if n.term == 0 {
			n.term = b.addTerm(t.Term)
		}
		return n.term
	}
	n, found := b.termOf[t.Term]
	if !found {
		n = b.addTerm(t.Term)
		b.termOf[b.terms[n].text] = n
	}
	return n
}

// wordIndex returns the token's word as an index in b.words. It adds the word if it is new.
func (b *memoryIndex) wordIndex(t *Token) uint32 {
	if t.WordNumber > 0 {
		n := b.numberedBy(t.WordNumber)
		if n.word == 0 {
			n.word = b.addWord(t.Word)
		}
		return n.word
	}
	n, found := b.wordOf[t.Word]
	if !found {
		n = b.addWord(t.Word)
		b.wordOf[b.words[n].text] = n
	}
	return n
}

// numberedBy returns the element of b.numbered with the given index: the entry of the string to
// which the caller of Add has given this number (see Token.TermNumber). If b.numbered is too short,
// it is first extended by empty entries.
func (b *memoryIndex) numberedBy(number uint32) *numbered {
	if more := int(number) + 1 - len(b.numbered); more > 0 {
		b.numbered = append(b.numbered, make([]numbered, more)...)
	}
	return &b.numbered[number]
}

func (b *memoryIndex) addTerm(term string) uint32 {
	_, ofImage := CutImageTerm(term)
	b.terms = append(b.terms, indexTerm{text: strings.Clone(term), vectorHash: newVectorHash(term), ofImage: ofImage})
	b.postingOf = append(b.postingOf, 0)
	return uint32(len(b.terms) - 1)
}

func (b *memoryIndex) addWord(word string) uint32 {
	b.words = append(b.words, indexWord{text: strings.Clone(word)})
	b.counted = append(b.counted, 0)
	return uint32(len(b.words) - 1)
}

// countWord counts a document that contains a word, and updates the sample of the word: those of its documents
// whose identities have the lowest hashes (see sampleSize). The parameter word is the index of the word in
// b.words. The documents must come in the order of their numbers. A document is counted once, however often
// countWord is called for it.
func (b *memoryIndex) countWord(word, doc uint32) {
	if b.counted[word] == doc+1 {
		return
	}
	b.counted[word] = doc + 1
	w := &b.words[word]
	n := min(w.docs, sampleSize)
	w.docs++
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

// sortPositions fills b.positions with the positions of all tokens: first the positions of the
// first posting, then of the second, and so on.
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
