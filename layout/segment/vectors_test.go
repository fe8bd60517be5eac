package segment

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
)

// TestVectors computes the vectors of random documents anew, and compares them with those of the
// segment, also after a merge.
func TestVectors(t *testing.T) {
	docs := generate(40, 5)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range docs {
		var words []string
		for range random.IntN(80) {
			words = append(words, strings.Repeat("ab", 1+random.IntN(4))+fmt.Sprint(random.IntN(30)))
		}
		docs[i].Body = strings.Join(words, " ")
	}
	merged := mustMerge(t, Input{Segment: mustOpen(t, mustBuild(t, docs[:15], 0))}, Input{Segment: mustOpen(t, mustBuild(t, docs[15:], 200))})
	for name, content := range map[string][]byte{"built": mustBuild(t, docs, 0), "merged": merged} {
		s := mustOpen(t, content)
		vectors, err := s.Vectors(t.Context(), numbersBelow(len(docs)))
		if err != nil || !s.HasVectors() {
			t.Fatal(err, s.HasVectors())
		}
		for i := range docs {
			frequency := map[string]int{}
			for token := range tokensOf(&docs[i]) {
				if token.Field == Title || token.Field == Body {
					frequency[token.Term]++
				}
			}
			type entry struct {
				worth int
				hash  uint32
				VectorTerm
			}
			var all []entry
			for term, n := range frequency {
				if h := newVectorHash(term); h.telling > 0 {
					weight := logarithmic(n, 1)
					all = append(all, entry{int(weight) * int(h.telling), h.hash, VectorTerm{uint16(h.hash >> 16), weight}})
				}
			}
			slices.SortFunc(all, func(a, b entry) int {
				if a.worth != b.worth {
					return b.worth - a.worth
				}
				return int(int64(a.hash) - int64(b.hash))
			})
			want := map[uint16]uint8{}
			for _, e := range all[:min(len(all), VectorTerms)] {
				want[e.Hash] = max(want[e.Hash], e.Weight)
			}
			got := vectors[i].Decode()
			if len(got) != len(want) || !slices.IsSortedFunc(got, func(a, b VectorTerm) int { return int(a.Hash) - int(b.Hash) }) {
				t.Fatalf("%s: vector %d is %v, want %v", name, i, got, want)
			}
			for _, term := range got {
				if want[term.Hash] != term.Weight {
					t.Fatalf("%s: vector %d is %v, want %v", name, i, got, want)
				}
			}
		}
	}
}

// numbersBelow returns the numbers 0, 1, …, n-1.
func numbersBelow(n int) (numbers []uint32) {
	for i := range n {
		numbers = append(numbers, uint32(i))
	}
	return numbers
}

// TestVectorBlocks reads vectors at the borders of blocks, of a segment with three of them. Only the blocks that have
// a wanted document must be read. A changed byte in one of the pages that are needed must be an error.
func TestVectorBlocks(t *testing.T) {
	const n = 2*vectorBlock + 7
	docs := make([]Document, n)
	for i := range docs {
		docs[i] = Document{ID: layout.IdentityOf(fmt.Sprint(i)), Body: fmt.Sprintf("%d is the number of document %d", i, i)}
	}
	content := mustBuild(t, docs, 0)
	all, err := mustOpen(t, content).Vectors(t.Context(), numbersBelow(n))
	if err != nil {
		t.Fatal(err)
	}
	column := mustOpen(t, content).columnOf(vectorPages, vectorPagesKind)
	for _, c := range []struct {
		docs   []uint32
		blocks int64 // number of whole blocks that are read
	}{
		{nil, 0},
		{[]uint32{0}, 1},
		{[]uint32{3, vectorBlock - 1}, 1},
		{[]uint32{vectorBlock - 1, vectorBlock}, 2},
		{[]uint32{vectorBlock, 2 * vectorBlock, n - 1}, 1}, // the last block has only seven documents
	} {
		source := &counting{Source: Bytes(content)}
		s, err := Open(t.Context(), source, mustOpen(t, content).Ref())
		if err != nil {
			t.Fatal(err)
		}
		opened := source.bytes
		found, err := s.Vectors(t.Context(), c.docs)
		if err != nil {
			t.Fatal(err)
		}
		for i, doc := range c.docs {
			if !bytes.Equal(found[i], all[doc]) || len(found[i].Decode()) == 0 {
				t.Errorf("of %d, vector %d is %x, want %x", c.docs, doc, found[i], all[doc])
			}
		}
		if read := (source.bytes - opened) / (pageSize * VectorSize); read != c.blocks {
			t.Errorf("%d: %d blocks are read, want %d", c.docs, read, c.blocks)
		}
	}
	changed := slices.Clone(content)
	changed[column.offset+column.size/2]++
	for i, want := range []error{nil, ErrDamaged} {
		doc := []uint32{0, n / 2}[i]
		if _, err := mustOpen(t, changed).Vectors(t.Context(), []uint32{doc}); !errors.Is(err, want) {
			t.Errorf("document %d: %v, want %v", doc, err, want)
		}
	}
}

func TestMergeWithoutVectors(t *testing.T) {
	old := mustOpen(t, buildWith(t, true, generate(3, 1), 0))
	merged := mustOpen(t, mustMerge(t, Input{Segment: old}, Input{Segment: mustOpen(t, mustBuild(t, generate(3, 2), 0))}))
	if merged.HasVectors() {
		t.Error("it has vectors, which an input lacks")
	}
	if _, err := merged.Vectors(t.Context(), []uint32{0}); err == nil {
		t.Error("vectors that are not there were read")
	}
}
