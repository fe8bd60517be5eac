package postings

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// renumbered returns the documents under their new numbers, without those that have no new number.
func renumbered(documents []model, numbers []uint32) (kept []model) {
	for _, d := range documents {
		if d.Doc = numbers[d.Doc]; d.Doc != NoMore {
			kept = append(kept, d)
		}
	}
	return kept
}

// numbering returns new numbers for n documents, as AddList needs them. They count up from the
// parameter first. Some documents, chosen at random, count as dead: they have NoMore instead of a
// number. If the last parameter is 10, for example, one of ten documents is dead on average; if it
// is 0, none is.
func numbering(r *rand.Rand, n int, first uint32, dead int) []uint32 {
	numbers := make([]uint32, n)
	for i := range numbers {
		if dead > 0 && r.IntN(dead) == 0 {
			numbers[i] = NoMore
			continue
		}
		numbers[i] = first
		first++
	}
	return numbers
}

// TestAddListIsAsAdd adds lists of both versions to encoders of both versions. The bytes must be those of an encoder to
// which the documents were added one by one.
func TestAddListIsAsAdd(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, given := range map[string][][]model{
		"small":        {simple(7), simple(0, 1, 2), simple(90)},
		"whole blocks": {english(r, 128, 3), english(r, 256, 3), english(r, 128, 3)},
		"across":       {english(r, 100, 3), english(r, 700, 5), english(r, 1, 1), english(r, 300, 2)},
		"anything":     {anything(r, 90), anything(r, 300), anything(r, 3)},
	} {
		for _, dead := range []int{0, 2, 50, 1} {
			for way := range 4 {
				from2, to2 := way&1 > 0, way&2 > 0
				t.Run(fmt.Sprintf("%s, from version 2: %v, to version 2: %v", name, from2, to2), func(t *testing.T) {
					testAddList(t, r, given, dead, from2, to2)
				})
			}
		}
	}
}

func testAddList(t *testing.T, r *rand.Rand, given [][]model, dead int, from2, to2 bool) {
	var once, copied Encoder
	if to2 {
		once.WithoutLengths()
		copied.WithoutLengths()
	}
	first := uint32(0)
	for _, documents := range given {
		documents = dense(documents)
		list, positions := encode(documents)
		var lengths Lengths
		if from2 {
			list, positions, lengths = encode2(documents)
		}
		numbers := numbering(r, len(documents), first, dead)
		first += uint32(len(documents)) + 5
		for _, d := range renumbered(documents, numbers) {
			once.Add(d.Posting, d.Positions)
		}
		if err := copied.AddList(list, positions, numbers, lengths); err != nil {
			t.Fatal(err)
		}
	}
	list, positions := once.Append(nil, nil)
	gotList, gotPositions := copied.Append(nil, nil)
	if !bytes.Equal(list, gotList) || !bytes.Equal(positions, gotPositions) {
		t.Errorf("%d and %d bytes, want %d and %d, or others", len(gotList), len(gotPositions), len(list), len(positions))
	}
}

// TestAppendRenumbered compares lists of both versions that are copied with those of an Encoder, for documents that lie
// near each other and far apart, and many or few others between them that are left out.
func TestAppendRenumbered(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, documents := range [][]model{simple(0), simple(5, 9), simple(6999), english(r, 128, 3), english(r, 129, 3), english(r, 3000, 2), english(r, 300, 20)} {
		for _, first := range []uint32{0, 1, 127, 128, 70_000, 1 << 28} {
			for _, dead := range []int{0, 2, 100, 3000} {
				numbers := numbering(r, 9000, first, dead)
				if dead != 2 { // else most lists have documents that are left out
					for _, d := range documents {
						numbers[d.Doc] = 0
					}
					next := first
					for doc := range numbers {
						if numbers[doc] != NoMore {
							numbers[doc] = next
							next++
						}
					}
				}
				kept := renumbered(documents, numbers)
				for _, version := range []int{1, 2} {
					want := append([]byte("before"), listOf(kept, version)...)
					got, ok, err := AppendRenumbered([]byte("before"), listOf(documents, version), numbers)
					if err != nil || ok != (len(kept) == len(documents)) || ok && !bytes.Equal(got, want) {
						t.Errorf("version %d, %d documents, from %d, one of %d is left out: copied %t, %v, or other bytes", version, len(documents), first, dead, ok, err)
					}
				}
			}
		}
	}
	for name, list := range map[string][]byte{"without documents": {0x10}, "beyond the last document": listOf(simple(3), 2)} {
		if _, ok, err := AppendRenumbered(nil, list, numbering(r, 3, 0, 0)); ok || !errors.Is(err, ErrDamaged) {
			t.Errorf("list %s: %t, %v", name, ok, err)
		}
	}
}

// listOf encodes the list of some documents in a version.
func listOf(documents []model, version int) []byte {
	var e Encoder
	if version == 2 {
		e.WithoutLengths()
	}
	for _, d := range documents {
		e.Add(d.Posting, d.Positions)
	}
	list, _ := e.Append(nil, nil)
	return list
}

// FuzzAddList calls AddList with arbitrary bytes, as a list of either version; if it accepts them, the result must be a
// sound list.
func FuzzAddList(f *testing.F) {
	r := rand.New(rand.NewPCG(14, 15))
	for _, documents := range [][]model{simple(7), simple(0, 1, 2), english(r, 40, 3), english(r, 300, 3)} {
		list, positions := encode(documents)
		f.Add(list, positions)
		list, positions, _ = encode2(documents)
		f.Add(list, positions)
	}
	numbers := numbering(r, 2000, 0, 9)
	f.Fuzz(func(t *testing.T, list, positions []byte) {
		if _, _, err := AppendRenumbered(nil, list, numbers); err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("not marked as damage: %v", err)
		}
		for _, lengths := range []Lengths{nil, make(Lengths, 1000)} {
			var e Encoder
			if err := e.AddList(list, positions, numbers, lengths); err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("not marked as damage: %v", err)
				}
				continue
			}
			if got, _ := e.Append(nil, nil); len(got) > 0 {
				if _, err := Open(got, nil); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
