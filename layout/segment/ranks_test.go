package segment

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestRankCodes(t *testing.T) {
	for _, test := range []struct {
		relative float64
		code     Rank
	}{{1e-9, 1}, {1. / 16, 1}, {0.15, 11}, {1, 33}, {2, 41}, {math.Exp2(27.75), 255}, {1e300, 255}} {
		if got := RankOf(test.relative); got != test.code {
			t.Errorf("%g has the code %d, want %d", test.relative, got, test.code)
		}
	}
	for code := Rank(1); code > 0; code++ {
		if got := RankOf(relativeOf(code)); got != code {
			t.Errorf("code %d reads as %g, which has the code %d", code, relativeOf(code), got)
		}
	}
	for relative := 0.07; relative < 1e6; relative *= 1.01 {
		if got := relativeOf(RankOf(relative)) / relative; math.Abs(got-1) > 0.045 {
			t.Errorf("%g is read as %g", relative, relativeOf(RankOf(relative)))
		}
	}
}

// relativeOf returns the rank, divided by the mean rank, that a code stands for.
func relativeOf(r Rank) float64 { return math.Exp2((float64(r) - rankOne) / rankSteps) }

func TestRanks(t *testing.T) {
	for _, ranks := range [][]Rank{{}, {0}, {33, 0, 255, 1}, make([]Rank, 300)} {
		content, err := EncodeRanks(ranks)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeRanks(content); err != nil || !slices.Equal(got, ranks) {
			t.Errorf("%v reads as %v, %v", ranks, got, err)
		}
		if _, err := DecodeDeletions(content); !errors.Is(err, ErrDamaged) {
			t.Errorf("ranks are read as deletions: %v", err)
		}
		for i := range content {
			changed := slices.Clone(content)
			changed[i] ^= 0x10
			if _, err := DecodeRanks(changed); !errors.Is(err, ErrDamaged) {
				t.Errorf("%v with byte %d changed: %v", ranks, i, err)
			}
		}
	}
	if _, err := EncodeRanks(make([]Rank, MaxDocuments+1)); err == nil {
		t.Error("too many documents have ranks")
	}
}

func FuzzRanks(f *testing.F) {
	f.Add([]byte{3, 1, 2, 3})
	f.Add([]byte{0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, content []byte) {
		ranks, err := DecodeRanks(seal(append(append([]byte(overlayMagic), byte(ranksKind)), content...), 0))
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		again, err := EncodeRanks(ranks)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := DecodeRanks(again); err != nil || !slices.Equal(back, ranks) {
			t.Fatalf("%v reads as %v, %v", ranks, back, err)
		}
	})
}
