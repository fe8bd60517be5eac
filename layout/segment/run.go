package segment

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// run holds the sorted terms and the sorted words of the documents of a memoryIndex, encoded.
// Numbers are varints.
//
//	terms    for each term: the front-coded term, the number of its documents, and
//	         for each document:
//	             its distance from the document before
//	             a byte: bits 0 to 3 say which fields contain the term, the others are its postings.Hits
//	             the frequency of the term in each of these fields
//	             the positions, each as its distance from the one before in the same field
//	words    for each word: the front-coded word, the number of its documents, and a
//	         sample of these (see appendSample)
type run struct{ terms, words []byte }

// pack returns the terms and words of the index, sorted and encoded as a run.
func (b *memoryIndex) pack() run {
	const most = 8 // bytes that a term or word takes beside its packed postings, in most cases
	r := run{terms: make([]byte, 0, b.packed+most*len(b.terms)), words: make([]byte, 0, most*len(b.words))}
	last := ""
	for _, i := range ascending(len(b.terms), func(i int) string { return b.terms[i].text }) {
		t := &b.terms[i]
		r.terms = appendFront(r.terms, last, t.text)
		r.terms = binary.AppendUvarint(r.terms, uint64(t.docs))
		r.terms = append(r.terms, t.packed...)
		last = t.text
	}
	last = ""
	for _, i := range ascending(len(b.words), func(i int) string { return b.words[i].text }) {
		w := &b.words[i]
		r.words = appendFront(r.words, last, w.text)
		last = w.text
		r.words = binary.AppendUvarint(r.words, uint64(w.docs))
		sample := w.sample[:min(w.docs, sampleSize)]
		slices.Sort(sample)
		r.words = appendSample(r.words, sample)
	}
	return r
}

// ascending returns the numbers from 1 to n-1, sorted by the strings that the function text returns for them. To
// compare two strings, it first compares their first eight bytes, as numbers, which is enough for most.
func ascending(n int, text func(int) string) []int {
	type entry struct {
		start uint64 // the first eight bytes of the string, big-endian, padded with zeros
		i     int
	}
	entries := make([]entry, 0, n)
	for i := 1; i < n; i++ {
		var start [8]byte
		copy(start[:], text(i))
		entries = append(entries, entry{binary.BigEndian.Uint64(start[:]), i})
	}
	slices.SortFunc(entries, func(x, y entry) int {
		if x.start != y.start {
			return cmp.Compare(x.start, y.start)
		}
		return strings.Compare(text(x.i), text(y.i))
	})
	sorted := make([]int, len(entries))
	for k, e := range entries {
		sorted[k] = e.i
	}
	return sorted
}

// packPosting encodes the posting p, and appends it to the encoded postings of its term. The
// parameter doc is the number of the posting's document.
func (b *memoryIndex) packPosting(doc uint32, p *indexPosting) {
	t := &b.terms[p.term]
	dst := binary.AppendUvarint(t.packed, uint64(doc-t.last))
	flags := byte(p.hits) << postings.Fields
	for f, n := range p.freq {
		if n > 0 {
			flags |= 1 << f
		}
	}
	dst = append(dst, flags)
	for _, n := range p.freq {
		if n > 0 {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	positions := b.positions[p.end-p.occurrences() : p.end]
	for _, n := range p.freq {
		last := uint32(0)
		for _, position := range positions[:n] {
			dst = binary.AppendUvarint(dst, uint64(position-last))
			last = position
		}
		positions = positions[n:]
	}
	b.packed += len(dst) - len(t.packed)
	t.packed, t.last = dst, doc
	t.docs++
	b.postingOf[p.term] = 0
}

// runTerms is a termCursor: it walks the terms of a run (see run) in ascending order.
type runTerms struct {
	parser
	codes     [][postings.Fields]uint8
	term      []byte
	positions []uint32
}

func (r *runTerms) key() []byte { return r.term }

func (r *runTerms) next() (bool, error) {
	if r.left() == 0 {
		return false, nil
	}
	r.term = r.front(r.term)
	return true, nil
}

func (r *runTerms) addTo(w *termWriter, _ bool) error {
	doc := uint32(0)
	for range r.uint32() {
		doc += r.uint32()
		flags := r.byte()
		p := postings.Posting{Doc: doc, Hits: postings.Hits(flags >> postings.Fields)}
		for f := range p.Freq {
			if flags&(1<<f) != 0 {
				p.Freq[f] = r.uint32()
				p.Length[f] = r.codes[doc][f]
			}
		}
		r.positions = r.positions[:0]
		for _, n := range p.Freq {
			position := uint32(0)
			for range n {
				position += r.uint32()
				r.positions = append(r.positions, position)
			}
		}
		w.encoder.Add(p, r.positions)
	}
	return nil
}

// uint32 reads a varint. It checks nothing, because this process itself wrote the run.
func (r *runTerms) uint32() uint32 {
	n, width := binary.Uvarint(r.data[r.at:])
	r.at += width
	return uint32(n)
}

// runWords walks the words of a run (see run) in ascending order; it is a wordCursor.
type runWords struct {
	parser
	documents uint32
	text      []byte
	docs      []uint32
	holding   uint64 // number of documents that contain the current word
}

func (r *runWords) key() []byte { return r.text }

func (r *runWords) next() (bool, error) {
	if r.left() == 0 {
		return false, nil
	}
	r.text = r.front(r.text)
	r.holding = r.number(uint64(r.documents))
	r.docs = r.parser.sample(r.docs, r.documents)
	return true, nil
}

func (r *runWords) count() uint64                { return r.holding }
func (r *runWords) sample(dst []uint32) []uint32 { return append(dst, r.docs...) }
