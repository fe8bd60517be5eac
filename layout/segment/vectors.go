package segment

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"unicode/utf8"
)

// vectors is the name of the column with the vector of each document. Segments of earlier programs
// lack it; a merge writes it only if all inputs have it.
const vectors = "vector"

const (
	// VectorTerms is the greatest number of terms in a Vector.
	VectorTerms = 24
	vectorSize  = 3 * VectorTerms // size of a Vector in a segment, in bytes
)

// Vector holds the most telling terms of a document's title and body, by which similar documents are
// found (Salton, Wong and Yang, A Vector Space Model for Automatic Indexing, 1975). It depends on the
// document alone, so that it is the same in every segment. The most telling terms are those that are
// frequent in the document and long: the words that are frequent in a whole language are short (Zipf,
// 1935). The terms are sorted by their hashes; a document of few terms has a short Vector.
type Vector []VectorTerm

// VectorTerm is a term of a Vector. Few terms of a document have the same Hash.
type VectorTerm struct {
	Hash   uint16
	Weight uint8 // 16 · (1 + ln frequency), rounded; at most 255
}

// HasVectors reports whether the segment has the vectors of its documents.
func (s *Segment) HasVectors() bool { return s.hasColumn(vectors) }

// Vectors are the vectors of a segment's documents, as the segment stores them.
type Vectors []byte

// Vectors reads the vectors of all documents, by one read.
func (s *Segment) Vectors(ctx context.Context) (Vectors, error) {
	rows, err := s.rows(ctx, vectors, vectorSize)
	return rows, err
}

// Of returns the vector of a document.
func (v Vectors) Of(doc uint32) Vector {
	row := v[int(doc)*vectorSize:][:vectorSize]
	vector := make(Vector, 0, VectorTerms)
	for ; len(row) > 0 && row[2] > 0; row = row[3:] {
		vector = append(vector, VectorTerm{binary.BigEndian.Uint16(row), row[2]})
	}
	return vector
}

// appendVector encodes a vector: for each term its hash, u16, and its weight, a byte; then zeros up to
// the size of a row.
func appendVector(b []byte, vector Vector) []byte {
	end := len(b) + vectorSize
	for _, t := range vector {
		b = append(binary.BigEndian.AppendUint16(b, t.Hash), t.Weight)
	}
	for len(b) < end {
		b = append(b, 0)
	}
	return b
}

// vectorHash holds two values of a term: its hash, and telling, a weight that grows with the term's
// length. A document's vector has the terms with the greatest product of telling and
// frequencyWeight. A term with a mark as its last byte, such as a term of an image, is never in a
// vector; its telling is 0.
type vectorHash struct {
	hash    uint32
	telling uint8
}

func newVectorHash(term string) vectorHash {
	if term[len(term)-1] <= ' ' {
		return vectorHash{}
	}
	h := fnv.New32a()
	h.Write([]byte(term)) //nolint:errcheck // a hash takes every byte
	return vectorHash{h.Sum32(), logarithmic(utf8.RuneCountInString(term), 2)}
}

// logarithmic returns 16 · (1 + factor · ln n), rounded, at most 255. The product is rounded to a
// float64 before 1 is added, so that all processors compute the same.
func logarithmic(n int, factor float64) uint8 {
	product := float64(factor * math.Log(float64(n)))
	return uint8(min(255, math.Round(16*(1+product))))
}

// frequencyWeight holds VectorTerm.Weight of a term by the term's frequency in the document. The
// last entry is also for all higher frequencies.
var frequencyWeight = func() (weights [256]uint8) {
	for n := range weights {
		weights[n] = logarithmic(max(1, n), 1)
	}
	return weights
}()

// candidate is a term of a document that may get into the document's vector. The vector has the
// candidates with the greatest values of worth, the product of vectorHash.telling and weight.
type candidate struct {
	worth  uint16
	hash   uint32
	weight uint8
}

// vector returns the vector of the document that is being added. The result is valid until the
// next call.
func (b *memoryIndex) vector() Vector {
	best := b.candidates[:0] // sorted, the most telling first
	for i := range b.postings[1:] {
		p := &b.postings[1+i]
		of, freq := b.terms[p.term].vectorHash, p.freq[Title]+p.freq[Body]
		if of.telling == 0 || freq == 0 {
			continue
		}
		weight := frequencyWeight[min(int(freq), len(frequencyWeight)-1)]
		c := candidate{uint16(weight) * uint16(of.telling), of.hash, weight}
		at := len(best)
		for at > 0 && (c.worth > best[at-1].worth || c.worth == best[at-1].worth && c.hash < best[at-1].hash) {
			at--
		}
		if at == VectorTerms {
			continue
		}
		if len(best) < VectorTerms {
			best = append(best, candidate{})
		}
		copy(best[at+1:], best[at:])
		best[at] = c
	}
	b.candidates = best
	slices.SortFunc(best, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.hash>>16, b.hash>>16), cmp.Compare(b.weight, a.weight))
	})
	b.chosen = b.chosen[:0]
	for _, c := range best {
		if n := len(b.chosen); n == 0 || b.chosen[n-1].Hash != uint16(c.hash>>16) {
			b.chosen = append(b.chosen, VectorTerm{uint16(c.hash >> 16), c.weight})
		}
	}
	return b.chosen
}
