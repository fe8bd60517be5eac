package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

func TestAdjacent(t *testing.T) {
	type words = [][]uint32
	tests := []struct {
		name      string
		positions words
		at        []uint32
		slop      int
		want      int
	}{
		{"next to each other", words{{1, 5, 9}, {2, 7, 10}}, []uint32{0, 1}, 0, 2},
		{"the wrong way round", words{{2}, {1}}, []uint32{0, 1}, 0, 0},
		{"the wrong way round takes two", words{{2}, {1}}, []uint32{0, 1}, 2, 1},
		{"a word between", words{{1}, {3}}, []uint32{0, 1}, 1, 1},
		{"two words between", words{{1}, {4}}, []uint32{0, 1}, 1, 0},
		{"slop is of all words together", words{{1}, {3}, {5}}, []uint32{0, 1, 2}, 1, 0},
		{"slop of all is enough", words{{1}, {3}, {5}}, []uint32{0, 1, 2}, 2, 1},
		{"a gap", words{{1}, {4}}, []uint32{0, 3}, 0, 1},
		{"one word twice", words{{1, 2, 3}, {1, 2, 3}}, []uint32{0, 1}, 0, 2},
		{"one position is one word", words{{1}, {1}}, []uint32{0, 1}, 3, 0},
		{"the nearer of two", words{{10}, {3, 11, 30}, {12}}, []uint32{0, 1, 2}, 1, 1},
	}
	for _, test := range tests {
		if got, _ := adjacent(test.positions, test.at, test.slop, nil); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestSloppyPair checks that sloppyPair, which is only for two words, counts the same occurrences
// as sloppy, which is for any number of words.
func TestSloppyPair(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() (positions []uint32) {
		for range random.IntN(400) {
			positions = append(positions, random.Uint32N(1000))
		}
		slices.Sort(positions)
		return slices.Compact(positions)
	}
	for range 300 {
		a, b, gap, slop := word(), word(), random.Uint32N(4), 1+random.IntN(8)
		if got, want := sloppyPair(a, b, int(gap), slop), sloppy([][]uint32{a, b}, []uint32{0, gap}, slop); got != want {
			t.Fatalf("%v, %v, gap %d, slop %d: %d, want %d", a, b, gap, slop, got, want)
		}
	}
}

// TestBoundsOfPhrases looks for phrases in random documents, and compares how often they occur with the bounds that are
// computed before positions are read. Documents whose bounds are refused have no result.
func TestBoundsOfPhrases(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	text := func(words int) string {
		var of []string
		for range words {
			of = append(of, strings.Fields("fox foxes dog hen duck goose cat cats owl the of and lamb")[random.IntN(13)])
		}
		return strings.Join(of, " ")
	}
	var docs []segment.Document
	for i := range 200 {
		d := page(fmt.Sprintf("http://a/%d", i), text(random.IntN(60)))
		d.Title, d.Headings = text(random.IntN(4)), []string{text(3)}
		docs = append(docs, d)
	}
	ix := indexOf(t, docs)
	q := Query{Text: "the fox and the dog of hen duck goose cats owl", Size: 10}
	s := ix.newSearch(&q, ix.plan(&q, false))
	limited := withoutDeadline(t.Context())
	if err := s.gather(limited); err != nil || !s.weigh() {
		t.Fatal(err)
	}
	best, err := s.candidates(limited)
	if err != nil || len(best) < nearest || len(s.plan.near) <= boundedPairs {
		t.Fatalf("%d matches, %d phrases, %v", len(best), len(s.plan.near), err)
	}
	bounds := make([][]occurrence, len(best))
	found, err := s.occurring(limited, best, s.plan.near, func(n int, most []occurrence) bool {
		bounds[n] = slices.Clone(most)
		return n%10 > 0
	})
	if err != nil {
		t.Fatal(err)
	}
	some := false
	for n := range best {
		if refused := n%10 == 0; refused != (found[n] == nil) {
			t.Fatalf("match %d: result %v, refused: %v", n, found[n], refused)
		}
		for i, o := range found[n] {
			most := &bounds[n][i]
			some = some || o.freq[segment.Body] > 1 && o.share == 0
			for f := range postings.Fields {
				if o.freq[f] > most.freq[f] || o.freq[f] > 0 && o.length[f] != most.length[f] || o.share > most.share*slack {
					t.Fatalf("match %d, phrase %d: %v, but the bounds are %v", n, i, o, *most)
				}
			}
		}
	}
	if !some {
		t.Error("no phrase occurs twice in a text")
	}
}
