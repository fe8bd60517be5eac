package postings

import (
	"math"
	"testing"
)

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
