package segment

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// TestWindow reads a range of several windows, in pieces smaller and larger than a window: with windows of the usual
// size, and with larger ones.
func TestWindow(t *testing.T) {
	content := make([]byte, 5*windowSize/2)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(content)
	for window, reads := range map[int64]int{0: 3, 2 * windowSize: 2} {
		source := &counting{Source: Bytes(content)}
		w := windowReader{segment: &Segment{source: source, window: window}, to: int64(len(content))}
		for at, n := 0, 1; at < len(content); n = n*3 + 1 {
			n = min(n, len(content)-at)
			got, err := w.take(t.Context(), int64(n))
			if err != nil || !bytes.Equal(got, content[at:at+n]) {
				t.Fatalf("%d bytes at %d: %v", n, at, err)
			}
			at += n
		}
		if source.reads != reads {
			t.Errorf("window %d: %d reads, want %d", window, source.reads, reads)
		}
		if _, err := w.take(t.Context(), 1); !errors.Is(err, ErrDamaged) {
			t.Errorf("behind the end: %v", err)
		}
	}
}
