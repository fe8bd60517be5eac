package segment

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/blevesearch/vellum"
)

// Columns of words.
const (
	words   = "words"
	samples = "words.samples"
)

// sampleSize is of how many documents a word remembers that they hold it: those
// with the lowest hashes of their identities, so that it makes no difference
// which documents were indexed together. A merge drops a word when none of
// those is left. Of a word of more documents, that can be too early: if p is
// the share of documents that are left out, with the probability of p to the
// power of sampleSize.
const sampleSize = 8

// wordCursor walks through words.
type wordCursor interface {
	cursor
	// count returns how many documents hold the current word.
	count() uint64
	// sample appends documents that hold it, at most sampleSize, ascending.
	sample(dst []uint32) []uint32
}

// mergeWords returns the contents of the columns of words. hashes are those of
// all documents.
func mergeWords(cursors []wordCursor, hashes []uint32) (transducer, sampled []byte, err error) {
	var buffer bytes.Buffer
	builder, err := vellum.New(&buffer, nil)
	if err != nil {
		return nil, nil, err
	}
	var docs []uint32
	err = eachKey(cursors, func(text []byte, having []wordCursor) error {
		count := uint64(0)
		docs = docs[:0]
		for _, c := range having {
			count += c.count()
			docs = c.sample(docs)
		}
		if len(docs) == 0 {
			return nil
		}
		docs = lowestHashes(docs, hashes)
		sampled = appendSample(sampled, docs)
		return builder.Insert(text, count)
	})
	if err == nil {
		err = builder.Close()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot write the words: %w", err)
	}
	return buffer.Bytes(), sampled, nil
}

// lowestHashes returns the documents of the lowest hashes, ascending.
func lowestHashes(docs, hashes []uint32) []uint32 {
	if len(docs) <= sampleSize {
		return docs
	}
	slices.SortFunc(docs, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(hashes[a], hashes[b]), cmp.Compare(a, b))
	})
	docs = docs[:sampleSize]
	slices.Sort(docs)
	return docs
}

// appendSample appends the number of documents, and the distance of each to the
// one before.
func appendSample(b []byte, docs []uint32) []byte {
	b = append(b, byte(len(docs)))
	last := uint32(0)
	for _, doc := range docs {
		b = binary.AppendUvarint(b, uint64(doc-last))
		last = doc
	}
	return b
}

// sample reads documents into the memory of others.
func (p *parser) sample(dst []uint32, documents uint32) []uint32 {
	dst = dst[:0]
	last := uint64(0)
	for range p.number(sampleSize) {
		last += p.number(uint64(documents))
		if last >= uint64(documents) {
			p.fail()
			return dst
		}
		dst = append(dst, uint32(last))
	}
	return dst
}

// loadWords opens a transducer. The bytes are those that were written, as their
// checksum says; vellum itself trusts them.
func loadWords(content []byte) (fst *vellum.FST, err error) {
	defer guard(&err)
	if fst, err = vellum.Load(content); err != nil {
		return nil, damaged("words: %w", err)
	}
	return fst, nil
}

// guard turns the panic of a library that trusts its bytes into an error.
func guard(err *error) {
	if recover() != nil {
		*err = errors.Join(ErrDamaged, errors.New("words cannot be read"))
	}
}
