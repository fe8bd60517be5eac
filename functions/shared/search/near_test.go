package search

import (
	"math/rand/v2"
	"slices"
	"testing"
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
