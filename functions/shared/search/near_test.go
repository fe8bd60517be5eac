package search

import "testing"

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
