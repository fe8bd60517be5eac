package postings

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// TestReset encodes several lists with one encoder, and calls Reset before each. A new encoder must
// give the same bytes for each list. Append must put these bytes after those that the slices passed
// to it contain already.
func TestReset(t *testing.T) {
	var e Encoder
	for name, documents := range lists() {
		e.Reset()
		for _, d := range documents {
			e.Add(d.Posting, d.Positions)
		}
		if e.Documents() != len(documents) {
			t.Errorf("%s: %d documents, want %d", name, e.Documents(), len(documents))
		}
		list, positions := e.Append([]byte("before"), []byte("ahead"))
		wantList, wantPositions := encode(documents)
		if !bytes.Equal(list, append([]byte("before"), wantList...)) || !bytes.Equal(positions, append([]byte("ahead"), wantPositions...)) {
			t.Errorf("%s: other bytes than of a new encoder", name)
		}
	}
	e.Reset()
	if list, positions := e.Append(nil, nil); len(list)+len(positions) > 0 {
		t.Errorf("no documents take %d and %d bytes", len(list), len(positions))
	}
}

// TestSmall checks that lists take few bytes, both for terms in one to four documents and for a
// frequent term.
func TestSmall(t *testing.T) {
	for n, most := range []int{1: 5, 2: 9, 3: 12, 4: 16} {
		documents := simple(3000, 5000, 5100, 70_000)[:n]
		if list, _ := encode(documents); len(list) > most {
			t.Errorf("%d documents take %d bytes, want at most %d", n, len(list), most)
		}
	}
	documents := english(rand.New(rand.NewPCG(7, 7)), 20_000, 8)
	list, positions := encode(documents)
	if each := float64(len(list)) / float64(len(documents)); each > 2.7 {
		t.Errorf("%.2f bytes a posting, want at most 2.7", each)
	}
	if each := float64(len(positions)) / float64(occurrences(documents)); each > 1.3 {
		t.Errorf("%.2f bytes a position, want at most 1.3", each)
	}
}

func TestBrokenPromises(t *testing.T) {
	one := Posting{Doc: 5, Freq: [Fields]uint32{1}, Length: [Fields]uint8{3}}
	for name, add := range map[string]func(e *Encoder){
		"documents descend":  func(e *Encoder) { e.Add(Posting{Doc: 4}, nil) },
		"a document again":   func(e *Encoder) { e.Add(one, []uint32{0}) },
		"no document":        func(e *Encoder) { e.Add(Posting{Doc: NoMore}, nil) },
		"too few positions":  func(e *Encoder) { e.Add(Posting{Doc: 6, Freq: [Fields]uint32{2, 1}}, []uint32{1, 2}) },
		"too many positions": func(e *Encoder) { e.Add(Posting{Doc: 6}, []uint32{1}) },
		"positions descend":  func(e *Encoder) { e.Add(Posting{Doc: 6, Freq: [Fields]uint32{2}}, []uint32{2, 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			var e Encoder
			e.Add(one, []uint32{0})
			defer func() {
				if recover() == nil {
					t.Error("nothing panicked")
				}
			}()
			add(&e)
		})
	}
}

func TestLengthCode(t *testing.T) {
	for code := range 256 {
		if got := LengthCode(LengthOf(uint8(code))); got != uint8(code) {
			t.Errorf("code %d is of length %d, which has code %d", code, LengthOf(uint8(code)), got)
		}
		if code > 0 && LengthOf(uint8(code)) <= LengthOf(uint8(code-1)) {
			t.Errorf("code %d is of %d, code %d of %d", code, LengthOf(uint8(code)), code-1, LengthOf(uint8(code-1)))
		}
	}
	check := func(length uint32) {
		t.Helper()
		code := LengthCode(length)
		kept := LengthOf(code)
		if kept > length || length <= exact && kept != length || code < 255 && uint64(kept)*8 < uint64(length)*7 {
			t.Fatalf("length %d is kept as %d", length, kept)
		}
		if length > 0 && LengthCode(length-1) > code {
			t.Fatalf("code %d of %d, less than of %d", code, length, length-1)
		}
	}
	for length := range uint32(1 << 18) {
		check(length)
	}
	for shift := range 32 {
		for near := range uint32(3) {
			check(1<<shift + near - 1)
		}
	}
	check(math.MaxUint32)
}
