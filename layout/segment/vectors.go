package segment

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// vectorPages is the name of the column with the vector of each document, in pages. Segments of earlier
// programs have the column vectors instead, which can only be read whole, or none of the two. A merge writes
// vectors only if all inputs have them.
const (
	vectorPages = "vector.pages"
	vectors     = "vector"
)

const (
	// VectorTerms is the greatest number of terms in a Vector.
	VectorTerms = 24
	VectorSize  = 3 * VectorTerms // size of an EncodedVector, in bytes
	// vectorBlock is the number of documents whose vectors are read together: 72 whole pages, 72 KiB.
	vectorBlock = pageContent
)

// Vector holds the most telling terms of a document's title and body. Similar documents have
// similar Vectors (Salton, Wong and Yang, A Vector Space Model for Automatic Indexing, 1975). A
// Vector is computed from the document alone, so that it is the same in every segment. A term is
// telling if it is long, and frequent in the document. Short terms count less, because they are
// often words that are frequent in the whole language (Zipf, 1935). The terms are sorted by their
// hashes. A document of few terms has a short Vector.
type Vector []VectorTerm

// VectorTerm is a term of a Vector. Terms of one document rarely share a Hash.
type VectorTerm struct {
	Hash   uint16
	Weight uint8 // 16 · (1 + ln frequency), rounded; at most 255
}

// HasVectors reports whether the segment has the vectors of its documents.
func (s *Segment) HasVectors() bool { return s.VectorsInPages() || s.hasColumn(vectors) }

// VectorsInPages reports whether Vectors can read the vectors of some documents. Those of a segment of an earlier
// program can only be read by AllVectors.
func (s *Segment) VectorsInPages() bool { return s.hasColumn(vectorPages) }

// EncodedVector is a Vector as a segment stores it: for each term its Hash and its Weight, then zeros. It has
// VectorSize bytes.
type EncodedVector []byte

// Decode returns the vector.
func (v EncodedVector) Decode() Vector {
	vector := make(Vector, 0, VectorTerms)
	for ; len(v) > 0 && v[2] > 0; v = v[3:] {
		vector = append(vector, VectorTerm{binary.BigEndian.Uint16(v), v[2]})
	}
	return vector
}

// Vectors returns the vectors of some documents, in their order. It reads, with at most one call of Source.Read,
// those of the vectorBlock documents around each. The docs must be ascending. It fails unless VectorsInPages.
func (s *Segment) Vectors(ctx context.Context, docs []uint32) ([]EncodedVector, error) {
	found := make([]EncodedVector, len(docs))
	total := VectorSize * int64(s.tail.documents)
	begin, err := s.pagedColumn(vectorPages, vectorPagesKind, total)
	if err != nil {
		return nil, err
	}
	pagesWith := func(doc, n int64) blob.Range {
		return pagesOf(blob.Range{Offset: doc * VectorSize, Length: min(n*VectorSize, total-doc*VectorSize)}, total)
	}
	var blocks []blob.Range
	of := make([]int, len(docs)) // for each document, the index of its block in blocks
	for i, doc := range docs {
		block := pagesWith(int64(doc-doc%vectorBlock), vectorBlock)
		block.Offset += begin
		if len(blocks) == 0 || blocks[len(blocks)-1] != block {
			blocks = append(blocks, block)
		}
		of[i] = len(blocks) - 1
	}
	contents, err := s.read(ctx, blocks)
	if err != nil {
		return nil, err
	}
	for i, doc := range docs {
		pages := pagesWith(int64(doc), 1)
		pages.Offset -= blocks[of[i]].Offset - begin
		row := blob.Range{Offset: int64(doc) * VectorSize, Length: VectorSize}
		if found[i], err = fromPages(contents[of[i]][pages.Offset:][:pages.Length], row); err != nil {
			return nil, s.wrap(fmt.Errorf("column %s: %w", vectorPages, err))
		}
	}
	return found, nil
}

// AllVectors reads the vectors of all documents: an EncodedVector after another.
func (s *Segment) AllVectors(ctx context.Context) ([]byte, error) {
	if !s.VectorsInPages() {
		return s.rows(ctx, vectors, VectorSize)
	}
	total := VectorSize * int64(s.tail.documents)
	if _, err := s.pagedColumn(vectorPages, vectorPagesKind, total); err != nil {
		return nil, err
	}
	pages, err := s.column(ctx, vectorPages, vectorPagesKind)
	if err != nil {
		return nil, err
	}
	rows, err := fromPages(pages, blob.Range{Length: total})
	if err != nil {
		err = s.wrap(fmt.Errorf("column %s: %w", vectorPages, err))
	}
	return rows, err
}

// appendVector encodes a vector. For each term it writes the hash (two bytes) and the weight (one
// byte). Then it fills up with zeros, so that all encoded vectors have the same size.
func appendVector(b []byte, vector Vector) []byte {
	end := len(b) + VectorSize
	for _, t := range vector {
		b = append(binary.BigEndian.AppendUint16(b, t.Hash), t.Weight)
	}
	for len(b) < end {
		b = append(b, 0)
	}
	return b
}

// vectorHash holds two numbers that depend on a term alone, and are kept for computing the vectors
// of documents (see Vector). One is the hash of the term. The other, telling, is greater for longer
// terms, since these tell more. The worth of a term in a document is telling · frequencyWeight; the
// terms with the greatest worth form the vector. A term that ends with a mark, such as one from an
// image, has telling = 0, and is in no vector.
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
// float64 before 1 is added, so that all processors compute the same, also those that fuse
// multiplication and addition.
func logarithmic(n int, factor float64) uint8 {
	product := float64(factor * math.Log(float64(n)))
	return uint8(min(255, math.Round(16*(1+product))))
}

// frequencyWeight maps the number of times that a document contains a term to VectorTerm.Weight. For
// 256 times and more, the last element counts.
var frequencyWeight = func() (weights [256]uint8) {
	for n := range weights {
		weights[n] = logarithmic(max(1, n), 1)
	}
	return weights
}()

// candidate is a term of a document that may get into the document's vector, which consists of the
// candidates with the greatest worth. A candidate's worth is its weight, which grows with the
// frequency in the document, multiplied by vectorHash.telling, which depends on the term only.
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
