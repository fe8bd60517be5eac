package postings

import (
	"math/rand/v2"
	"sort"
	"testing"
)

// TestAdvance moves an iterator by random calls of Next and Advance, with calls of Shallow between
// them. After each call it computes from the original documents what the call should have found.
func TestAdvance(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, documents := range lists() {
		l, positions := open(t, documents)
		for range 5 {
			it, at := l.Iterator(), -1
			span := 1 + documents[len(documents)-1].Doc/(1+r.Uint32N(200))
			for at < len(documents) {
				doc := uint32(0)
				if at >= 0 {
					doc = documents[at].Doc
				}
				doc = uint32(min(uint64(doc)+uint64(r.Uint32N(span)), NoMore))
				switch r.IntN(4) {
				case 0:
					at++
					it.Next()
				case 1:
					first := sort.Search(len(documents), func(i int) bool { return documents[i].Doc >= doc })
					last := uint32(NoMore)
					if first < len(documents) {
						last = documents[min(first|(BlockSize-1), len(documents)-1)].Doc
					}
					if got := it.Shallow(doc); got != last {
						t.Fatalf("%s: the block of %d ends at %d, want %d", name, doc, got, last)
					}
					continue
				default:
					first := sort.Search(len(documents), func(i int) bool { return documents[i].Doc >= doc })
					at = max(at, first)
					it.Advance(doc)
				}
				if at == len(documents) {
					break
				}
				if it.Doc() != documents[at].Doc {
					t.Fatalf("%s: at document %d, want %d", name, it.Doc(), documents[at].Doc)
				}
				if r.IntN(3) == 0 {
					if diff := difference(documents[at:at+1], []model{current(t, it, positions)}); diff != "" {
						t.Fatalf("%s: %s", name, diff)
					}
				}
			}
			if it.Doc() != NoMore || it.Next() != NoMore || it.Advance(0) != NoMore || it.Advance(NoMore) != NoMore {
				t.Fatalf("%s: at %d behind the last", name, it.Doc())
			}
			freq, length, hits := it.Payload()
			if *freq != [Fields]uint32{} || *length != [Fields]uint8{} || hits != 0 {
				t.Fatalf("%s: a payload behind the last: %v %v %v", name, *freq, *length, hits)
			}
		}
	}
}

// TestShallowBehind calls Shallow for a later document, and then for an earlier one. Shallow looks
// up the block of a document without moving the iterator. Each call must find the right block.
// Afterwards Next and Advance must move the iterator as if Shallow had not been called.
func TestShallowBehind(t *testing.T) {
	docs := make([]uint32, 5*BlockSize)
	for i := range docs {
		docs[i] = uint32(10 * i)
	}
	l, _ := open(t, simple(docs...))
	it := l.Iterator()
	for _, step := range []struct{ doc, last uint32 }{
		{0, 1270}, {6390, 6390}, {6391, NoMore}, {1271, 2550}, {1270, 1270}, {3000, 3830},
	} {
		if last := it.Shallow(step.doc); last != step.last {
			t.Errorf("the block of %d ends at %d, want %d", step.doc, last, step.last)
		}
	}
	if it.Next() != 0 || it.Advance(2600) != 2600 || it.Shallow(2600) != 3830 {
		t.Errorf("at %d, in a block that ends at %d", it.Doc(), it.Shallow(2600))
	}
}

// TestIterationAllocates checks that no method of an iterator allocates memory.
func TestIterationAllocates(t *testing.T) {
	documents := anything(rand.New(rand.NewPCG(5, 6)), 1000)
	l, positions := open(t, documents)
	it := l.Iterator()
	dst := make([]uint32, 0, 1<<16)
	w := func() {
		it.Reset(l)
		for doc := it.Next(); doc != NoMore; doc = it.Advance(doc + 1000) {
			it.Payload()
			it.Shallow(doc)
			it.BlockImpacts()
			offset, size := it.PositionBlock()
			if _, err := it.Positions(positions[offset:offset+size], dst); err != nil {
				t.Fatal(err)
			}
		}
	}
	w() // allocates the memory for impacts
	if n := testing.AllocsPerRun(5, w); n != 0 {
		t.Errorf("%v allocations a walk", n)
	}
}
