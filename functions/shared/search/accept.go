package search

import (
	"math"
	"math/bits"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// accept says which documents of a segment may match at all.
type accept struct {
	dead    *roaring.Bitmap // nil when none is
	allowed bitset          // those that are not dead; nil when filters let all pass
	stride  uint32          // only every so many stretches of documents are looked at; 0: all
}

// stretch is how many neighbouring documents a sample takes.
const stretch = 512

// next returns the first document from doc on that may match.
func (a *accept) next(doc uint32) uint32 {
	if a.dead == nil && a.allowed == nil && a.stride <= 1 {
		return doc
	}
	return a.find(doc)
}

func (a *accept) find(doc uint32) uint32 {
	for {
		if a.stride > 1 {
			if n := doc / stretch; n%a.stride != 0 {
				doc = (n + a.stride - n%a.stride) * stretch
			}
		}
		next := a.first(doc)
		if next == doc || next == postings.NoMore || a.stride <= 1 {
			return next
		}
		doc = next
	}
}

// first is find without a sample.
func (a *accept) first(doc uint32) uint32 {
	if a.allowed == nil {
		if a.dead == nil {
			return doc
		}
		for doc != postings.NoMore && a.dead.Contains(doc) {
			doc++
		}
		return doc
	}
	return a.allowed.next(doc)
}

// bitset has a bit a document.
type bitset []uint64

// newBits returns a bitset of so many documents.
func newBits(documents int) bitset {
	b := make(bitset, (documents+63)/64)
	for i := range b {
		b[i] = math.MaxUint64
	}
	if documents%64 > 0 {
		b[len(b)-1] = 1<<(documents%64) - 1
	}
	return b
}

func (b bitset) clear(doc uint32) {
	if n := int(doc / 64); n < len(b) {
		b[n] &^= 1 << (doc % 64)
	}
}

// next returns the first document from doc on.
func (b bitset) next(doc uint32) uint32 {
	n := int(doc / 64)
	if n >= len(b) {
		return postings.NoMore
	}
	word := b[n] &^ (1<<(doc%64) - 1)
	for word == 0 {
		if n++; n == len(b) {
			return postings.NoMore
		}
		word = b[n]
	}
	return uint32(n*64 + bits.TrailingZeros64(word))
}
