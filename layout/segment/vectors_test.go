package segment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
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
		vectors, err := s.Vectors(t.Context())
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
			got := vectors.Of(uint32(i))
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

func TestMergeWithoutVectors(t *testing.T) {
	old := mustOpen(t, buildWith(t, true, generate(3, 1), 0))
	merged := mustOpen(t, mustMerge(t, Input{Segment: old}, Input{Segment: mustOpen(t, mustBuild(t, generate(3, 2), 0))}))
	if merged.HasVectors() {
		t.Error("it has vectors, which an input lacks")
	}
	if _, err := merged.Vectors(t.Context()); err == nil {
		t.Error("vectors that are not there were read")
	}
}
