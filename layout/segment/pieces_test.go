package segment

import (
	"bytes"
	"testing"
)

// TestPieces writes parts of every size, and gets them back in one.
func TestPieces(t *testing.T) {
	const large = 1 << 20
	for _, sizes := range [][]int{{}, {1}, {large}, {large - 1, 1, 1}, {7, 3*large + 5, 0, large}} {
		var p pieces
		var all []byte
		for _, size := range sizes {
			for i := range size {
				p.content = append(p.content, byte(i*7/3))
				all = append(all, byte(i*7/3))
			}
			p.spill()
			if p.length() != len(all) {
				t.Fatalf("%v: %d bytes, want %d", sizes, p.length(), len(all))
			}
		}
		if got := p.moveTo([]byte("before")); !bytes.Equal(got, append([]byte("before"), all...)) || p.length() != 0 {
			t.Errorf("%v: other bytes, or some are left", sizes)
		}
	}
}
