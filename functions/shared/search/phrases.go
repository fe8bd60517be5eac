package search

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// occurrence says how often a phrase occurs in each field of a document, and has the codes of
// the lengths of these fields.
type occurrence struct {
	freq   [postings.Fields]uint32
	length [postings.Fields]uint8
	share  float64 // for words that are looked for in passages: the sum of the shares of those in the best passage (see passageReader)
}

func (o *occurrence) none() bool { return o.freq == [postings.Fields]uint32{} }

// occurrences returns the occurrences of phrases in documents of one segment. The result's indexes are
// those of docs and of phrases. The numbers in docs must ascend. Positions that are not in memory yet are
// read all at once, and only those of documents in which one field has all words of a phrase.
//
// If the function may is not nil, it is asked before the positions of a document are read. Its parameters are the
// index of the document, and for each phrase at least as many occurrences as the document has. If it returns false,
// the document's result is nil.
func (g *gathered) occurrences(ctx context.Context, part int, docs []uint32, phrases []*queryPhrase, may mayMatter) ([][]occurrence, error) {
	p := phraseReaders.Get().(*phraseReader)
	defer p.forget()
	p.segment, p.phrases = g.parts[part].Segment, phrases
	numbers := len(g.names) + len(g.alternatives)
	p.places = slices.Grow(p.places[:0], numbers)[:numbers]
	clear(p.places)
	for _, phrase := range phrases {
		for _, w := range phrase.words {
			for _, v := range w.variants {
				if entry := g.terms[part][v.number]; entry != nil && v.alternative == nil { // an alternative has no positions
					p.add(v.number, entry)
				}
			}
		}
	}
	return p.read(ctx, docs, may)
}

// mayMatter tells by upper bounds of a document's occurrences whether the occurrences themselves may matter (see
// gathered.occurrences and search.occurring).
type mayMatter func(n int, most []occurrence) bool

// phraseReaders keeps phraseReaders, with the memory that they have allocated, for later searches.
var phraseReaders = sync.Pool{New: func() any { return new(phraseReader) }}

// phraseReader reads the posting lists of phrases twice: first to find the blocks of positions that
// must be read, then to count the occurrences.
type phraseReader struct {
	segment *segment.Segment
	phrases []*queryPhrase
	// places[n] says where the query's term with the number n (see gathered.names) is in
	// phraseReader.terms: it is the index there, plus 1; 0 if the term is not there
	places []int32
	terms  []phraseTerm
	// for each element of terms, whether the term belongs to a phrase that may occur in the current
	// document
	needed []bool

	wanted  []segment.Positions
	scratch []uint32
	slots   [][]uint32 // for each word of the current phrase: its positions in the current field
	merged  [][]uint32 // for each word of the current phrase: memory to merge the positions of all its terms

	passages passageReader
}

// add adds a term, given its number and its entry in the segment, unless the reader has it already.
func (p *phraseReader) add(number int, entry *segment.Term) {
	if p.places[number] > 0 {
		return
	}
	p.places[number] = int32(len(p.terms) + 1)
	if len(p.terms) < cap(p.terms) {
		p.terms = p.terms[:len(p.terms)+1]
	} else {
		p.terms = append(p.terms, phraseTerm{})
	}
	p.terms[len(p.terms)-1].open(entry)
}

// forget clears the reader and returns it to the pool.
func (p *phraseReader) forget() {
	for i := range p.terms {
		t := &p.terms[i]
		t.entry, t.content = nil, nil
		clear(t.blocks)
	}
	clear(p.wanted)
	p.segment, p.phrases, p.terms = nil, nil, p.terms[:0]
	phraseReaders.Put(p)
}

func (p *phraseReader) read(ctx context.Context, docs []uint32, may mayMatter) ([][]occurrence, error) {
	found := make([][]occurrence, len(docs))
	space := make([]occurrence, len(docs)*len(p.phrases))
	for i := range docs {
		found[i] = space[i*len(p.phrases):][:len(p.phrases)]
	}
	p.start()
	for i, doc := range docs {
		p.advance(doc)
		if may != nil {
			p.bound(found[i])
			if !may(i, found[i]) {
				found[i] = nil
				continue
			}
			clear(found[i])
		}
		p.need()
		for i := range p.terms {
			if t := &p.terms[i]; t.doc == doc && p.needed[i] {
				t.note()
			}
		}
	}
	p.wanted = p.wanted[:0]
	for i := range p.terms {
		p.wanted = append(p.wanted, p.terms[i].blocks...)
	}
	if len(p.wanted) == 0 {
		return found, p.err()
	}
	content, err := p.segment.ReadPositions(ctx, p.wanted)
	if err != nil {
		return nil, err
	}
	for i := range p.terms {
		t := &p.terms[i]
		t.content, content = content[:len(t.blocks)], content[len(t.blocks):]
	}
	p.start()
	for i, doc := range docs {
		if i%64 == 0 {
			if err := effort.Spend(ctx, min(64, len(docs)-i)*effortOf(p.phrases)); err != nil {
				return nil, err
			}
		}
		if found[i] == nil {
			continue
		}
		p.advance(doc)
		for n := 0; n < len(p.phrases); {
			same := n + 1
			for same < len(p.phrases) && slices.Equal(p.phrases[same].words, p.phrases[n].words) {
				same++
			}
			if err := p.count(p.phrases[n:same], found[i][n:same]); err != nil {
				return nil, err
			}
			n = same
		}
	}
	return found, p.err()
}

func (p *phraseReader) start() {
	for i := range p.terms {
		p.terms[i].start()
	}
}

// advance moves the posting lists of all terms to the document doc. The list of a term that doc
// lacks moves to the first later document that has the term.
func (p *phraseReader) advance(doc uint32) {
	for i := range p.terms {
		p.terms[i].advance(doc)
	}
}

// bound writes into the parameter most, for each phrase, upper bounds of its occurrences in the current document:
//
//	phrase without slop   it occurs in a field at most as often as its rarest word
//	phrase with slop      it occurs at most as often as its first word, since each position of this word
//	                      counts at most once (see adjacent)
//	passage               it has at most the words that the body has
func (p *phraseReader) bound(most []occurrence) {
	for n, phrase := range p.phrases {
		o := &most[n]
		for i, w := range phrase.words {
			freq := p.frequencies(w, &o.length)
			if phrase.shares != nil {
				if freq[segment.Body] > 0 {
					o.share += phrase.shares[i]
				}
				continue
			}
			for f, times := range freq {
				if i == 0 || times == 0 || times < o.freq[f] && phrase.slop == 0 {
					o.freq[f] = times
				}
			}
		}
	}
}

// frequencies returns how often each field of the current document has a word. For each field that has the word, it
// also stores the code of the field's length in lengths.
func (p *phraseReader) frequencies(w *queryWord, lengths *[postings.Fields]uint8) (sum [postings.Fields]uint32) {
	for _, v := range w.variants {
		t := p.term(v.number)
		if t == nil || t.fields == 0 {
			continue
		}
		for f, times := range t.freq {
			if times > 0 {
				sum[f] += times
				lengths[f] = t.length[f]
			}
		}
	}
	return sum
}

// need sets p.needed: it marks the terms of all phrases that may occur in the current document.
func (p *phraseReader) need() {
	p.needed = slices.Grow(p.needed[:0], len(p.terms))[:len(p.terms)]
	clear(p.needed)
	for _, phrase := range p.phrases {
		if p.fieldsOf(phrase) == 0 {
			continue
		}
		for _, w := range phrase.words {
			for _, v := range w.variants {
				if at := p.places[v.number]; at > 0 {
					p.needed[at-1] = true
				}
			}
		}
	}
}

// fieldSet is a set of fields: bit 1<<f is set if field f is in the set.
type fieldSet uint

func (s fieldSet) has(f int) bool { return s>>f&1 != 0 }

// fieldsOf returns the fields of the current document in which a phrase may be: those that have all words of
// the phrase. A passage is looked for in the body only, if the body has at least one of its words.
func (p *phraseReader) fieldsOf(phrase *queryPhrase) fieldSet {
	all, any := ^fieldSet(0), fieldSet(0)
	for _, w := range phrase.words {
		fields := fieldSet(0)
		for _, v := range w.variants {
			if t := p.term(v.number); t != nil {
				fields |= t.fields
			}
		}
		all, any = all&fields, any|fields
	}
	if phrase.shares != nil {
		return any & (1 << segment.Body)
	}
	return all
}

// term returns a term by its number, or nil if the segment lacks it.
func (p *phraseReader) term(number int) *phraseTerm {
	if at := p.places[number]; at > 0 {
		return &p.terms[at-1]
	}
	return nil
}

// count counts how often each of the given phrases occurs in the current document, and writes the results
// into the parameter counts. All these phrases must have the same words in the same order, because the
// positions of the words are read only once. Their slops may differ.
func (p *phraseReader) count(phrases []*queryPhrase, counts []occurrence) error {
	words, fields := phrases[0].words, p.fieldsOf(phrases[0])
	for f := range postings.Fields {
		if !fields.has(f) {
			continue
		}
		for len(p.slots) < len(words) {
			p.slots, p.merged = append(p.slots, nil), append(p.merged, nil)
		}
		code := uint8(0) // of the length of the field
		for i, w := range words {
			var slot []uint32
			terms := 0
			for _, v := range w.variants {
				t := p.term(v.number)
				if t == nil || t.freq[f] == 0 {
					continue
				}
				positions, err := t.in(f)
				if err != nil {
					return err
				}
				if terms++; terms == 1 {
					slot = positions
					code = t.length[f]
					continue
				}
				if terms == 2 {
					slot = append(p.merged[i][:0], slot...)
				}
				slot = append(slot, positions...)
			}
			if terms > 1 {
				slices.Sort(slot)
				p.merged[i] = slot
				slot = slices.Compact(slot)
			}
			p.slots[i] = slot
		}
		for n, phrase := range phrases {
			if phrase.shares != nil {
				counts[n].share, counts[n].length[f] = p.passages.best(phrase, p.slots[:len(words)]), code
				continue
			}
			var times int
			times, p.scratch = adjacent(p.slots[:len(words)], phrase.at, phrase.slop, p.scratch)
			if times > 0 {
				counts[n].freq[f], counts[n].length[f] = uint32(times), code
			}
		}
	}
	return nil
}

func (p *phraseReader) err() error {
	for i := range p.terms {
		if err := p.terms[i].it.Err(); err != nil {
			return fmt.Errorf("%w: %w", segment.ErrDamaged, err)
		}
	}
	return nil
}

// phraseTerm walks through the posting list of one term of a phrase.
type phraseTerm struct {
	entry  *segment.Term
	it     postings.Iterator
	doc    uint32
	freq   *[postings.Fields]uint32 // frequency of the term in each field; all 0 if the document lacks the term
	length *[postings.Fields]uint8
	fields fieldSet // fields that have the term

	blocks    []segment.Positions // position blocks to read, in the order of documents
	content   [][]byte            // contents of the position blocks, in the order of blocks
	block     int                 // index of the current document's position block, in the fields blocks and content
	positions []uint32            // positions of the term in the current document, in all fields
	decoded   bool                // whether positions are set for the current document
}

// open begins a walk through the posting list of another term. It reuses the memory of the walk
// before.
func (t *phraseTerm) open(entry *segment.Term) {
	t.entry, t.blocks, t.content, t.block = entry, t.blocks[:0], nil, 0
}

func (t *phraseTerm) start() {
	t.it.Reset(t.entry.List)
	t.doc = t.it.Next()
}

var noFreq [postings.Fields]uint32

// advance moves the posting list of the term to the document. If the document lacks the term, the
// list moves to the first later document that has it, and freq is all 0.
func (t *phraseTerm) advance(doc uint32) {
	if t.doc < doc {
		t.doc = t.it.Advance(doc)
	}
	t.freq, t.length, t.fields, t.decoded = &noFreq, nil, 0, false
	if t.doc != doc {
		return
	}
	t.freq, t.length, _ = t.it.Payload()
	for f, n := range t.freq {
		if n > 0 {
			t.fields |= 1 << f
		}
	}
}

// place returns the position block that holds the positions of the current document.
func (t *phraseTerm) place() segment.Positions {
	offset, length := t.it.PositionBlock()
	return segment.Positions{Term: t.entry, Offset: offset, Length: length}
}

// note adds the position block of the current document to the blocks that will be read.
func (t *phraseTerm) note() {
	if r := t.place(); len(t.blocks) == 0 || t.blocks[len(t.blocks)-1] != r {
		t.blocks = append(t.blocks, r)
	}
}

// in returns the term's positions in a field of the current document.
func (t *phraseTerm) in(f int) ([]uint32, error) {
	if !t.decoded {
		at := t.place()
		for t.block < len(t.blocks) && t.blocks[t.block] != at {
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
