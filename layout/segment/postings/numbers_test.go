package postings

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNumbers encodes lists of numbers and decodes them again: alone, and with other bytes after
// them. With the last bytes cut off, decoding must fail. It takes lists for each width from 0 to 32
// bits; a few numbers of a list may have more bits than its width.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 63, 64, 65, 100, 126, 127, 128} {
		for width := range 33 {
			want := make([]uint32, n)
			for i := range want {
				want[i] = uint32(r.Uint64N(1 << width))
				if r.IntN(9) == 0 {
					want[i] = r.Uint32() >> r.IntN(32)
				}
			}
			data := appendNumbers(nil, want)
			for more := range 10 {
				got := make([]uint32, n)
				rest, ok := readNumbers(got, append(slices.Clone(data), make([]byte, more)...))
				if !ok || len(rest) != more || !slices.Equal(want, got) {
					t.Fatalf("%d numbers of %d bits: %v, %d bytes left of %d: %v, want %v", n, width, ok, len(rest), more, got, want)
				}
			}
			for cut := range min(len(data), 10) {
				if _, ok := readNumbers(make([]uint32, n), data[:len(data)-1-cut]); ok {
					t.Fatalf("%d numbers of %d bits read without the last %d of %d bytes", n, width, cut+1, len(data))
				}
			}
		}
	}
}

func TestExceptions(t *testing.T) {
	numbers := make([]uint32, BlockSize)
	if size := len(appendNumbers(nil, numbers)); size != 1 {
		t.Errorf("zeros take %d bytes, want 1", size)
	}
	numbers[77] = math.MaxUint32
	if size := len(appendNumbers(nil, numbers)); size > 8 {
		t.Errorf("zeros and one large number take %d bytes, want at most 8", size)
	}
}

func TestSets(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	for n := 2; n <= BlockSize; n++ {
		for share := range 11 {
			var want set
			for i := range n {
				if r.IntN(10) < share {
					want.add(i)
				}
			}
			data := appendSet(nil, want, n)
			if most := 1 + (n+7)/8; len(data) > most {
				t.Errorf("a set of %d of %d takes %d bytes, want at most %d", want.count(), n, len(data), most)
			}
			got, rest, ok := readSet(append(data, 1, 2), n)
			if !ok || len(rest) != 2 || got != want {
				t.Fatalf("%x of %d read as %x, %v, %d bytes left", want, n, got, ok, len(rest))
			}
		}
	}
	if _, _, ok := readSet([]byte{0x04}, 2); ok {
		t.Error("read a member behind the last")
	}
}

// TestSkipRice skips gaps, some of which are written with all their 32 bits, and compares the end with that of reading
// them, also in data that end too early.
func TestSkipRice(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		var w bitWriter
		var data []byte
		k, n := uint(random.IntN(32)), uint32(random.IntN(100))
		for range n {
			data = appendRice(data, &w, random.Uint32()>>random.IntN(32), k)
		}
		data = w.flush(data)
		data = data[:len(data)-random.IntN(len(data)+1)/4]
		from := uint(random.IntN(9))
		want := from
		for range n {
			_, want = readRice(data, want, k)
		}
		if got := skipRice(data, from, k, n); got != want {
			t.Fatalf("k %d: %d gaps from bit %d on end at bit %d, not %d", k, n, from, got, want)
		}
	}
}
