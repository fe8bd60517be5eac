package postings

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDamage cuts a list at every byte: Open must refuse the part before the cut. It also changes
// each byte of the list in turn: either Open must refuse the list, or all methods of its iterator
// must work without a panic.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 17))
	for _, documents := range [][]model{simple(9), english(r, 30, 4), english(r, 300, 4)} {
		list, positions := encode(documents)
		testDamage(t, r, list, positions, nil)
		list, positions, lengths := encode2(documents)
		testDamage(t, r, list, positions, lengths)
		if _, err := Open(list, lengths[:len(lengths)-1]); len(documents) <= BlockSize && !errors.Is(err, ErrDamaged) {
			t.Errorf("without the lengths of the last document: %v", err)
		}
	}
}

func testDamage(t *testing.T, r *rand.Rand, list, positions []byte, lengths Lengths) {
	t.Helper()
	for at := range list {
		if _, err := Open(list[:at], lengths); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%d of %d bytes: %v", at, len(list), err)
		}
		damaged := append([]byte(nil), list...)
		damaged[at] ^= 1 << r.IntN(8)
		if l, err := Open(damaged, lengths); err == nil {
			everything(t, l, positions)
		}
	}
	if _, err := Open(append(list, 0), lengths); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte behind the list: %v", err)
	}
}

// TestDamageRenumbered changes each bit of lists of several blocks. If Open and AppendRenumbered accept such a list, Open
// must accept the copy, too. All documents that are not in the list are left out.
func TestDamageRenumbered(t *testing.T) {
	scattered := english(rand.New(rand.NewPCG(22, 23)), 2*BlockSize+9, 2)
	neighbours := slices.Clone(scattered)
	for i := range neighbours {
		neighbours[i].Doc = uint32(100 + i)
	}
	for name, documents := range map[string][]model{"scattered": scattered, "neighbours": neighbours} {
		list, _ := encode(documents)
		numbers := slices.Repeat([]uint32{NoMore}, 2000)
		for i, d := range documents {
			numbers[d.Doc] = uint32(i)
		}
		for bit := range 8 * len(list) {
			damaged := slices.Clone(list)
			damaged[bit/8] ^= 1 << (bit % 8)
			if _, err := Open(damaged, nil); err != nil {
				continue
			}
			copied, ok, err := AppendRenumbered(nil, damaged, numbers)
			if err == nil && ok {
				_, err = Open(copied, nil)
			} else if errors.Is(err, ErrDamaged) {
				err = nil
			}
			if err != nil {
				t.Errorf("%s, bit %d: %v", name, bit, err)
			}
		}
	}
}

// TestDamageOnTheWay checks that iterators find damage in the parts of a list that Open does not check.
func TestDamageOnTheWay(t *testing.T) {
	documents := english(rand.New(rand.NewPCG(18, 19)), 3*BlockSize, 9)
	list, positions := encode(documents)
	l, err := Open(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	second := l.blocks[1].at

	list[second] ^= 1 // another first gap: the block ends elsewhere
	it := l.Iterator()
	if doc := it.Advance(documents[BlockSize].Doc); doc != NoMore || !errors.Is(it.Err(), ErrDamaged) {
		t.Errorf("at %d in a damaged block, %v", doc, it.Err())
	}
	list[second] ^= 1

	it.Reset(l)
	it.Advance(documents[BlockSize].Doc)
	it.rest[0] ^= 1 << 1 // another number of sets than are written
	if freq, _, _ := it.Payload(); *freq != [Fields]uint32{} || !errors.Is(it.Err(), ErrDamaged) {
		t.Errorf("a damaged payload is %v, %v", *freq, it.Err())
	}
	if _, err := it.Positions(positions, nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("positions by a damaged payload: %v", err)
	}
}

// TestDamagedPositions checks that reading positions that are cut short gives an error, and that
// the iterator can read the whole positions after that.
func TestDamagedPositions(t *testing.T) {
	documents := english(rand.New(rand.NewPCG(20, 21)), 50, 2)
	l, positions := open(t, documents)
	it := l.Iterator()
	it.Advance(documents[40].Doc)
	if _, err := it.Positions(positions[:len(positions)/3], nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("positions cut short: %v", err)
	}
	got, err := it.Positions(positions, nil)
	if err != nil || len(got) != len(documents[40].Positions) {
		t.Errorf("after that: %d positions of %d, %v", len(got), len(documents[40].Positions), err)
	}
}
