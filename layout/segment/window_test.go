package segment

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// TestWindow reads more than windows hold, in pieces smaller and larger than
// one.
func TestWindow(t *testing.T) {
	positions := make([]byte, 5*windowSize/2)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(positions)
	object := appendPages([]byte(magic), positions)
	source := &counting{Source: Bytes(object)}
	s := &Segment{source: source, tail: &tail{positions: int64(len(positions))}}
	s.tail.terms.start = int64(len(magic))

	pages := s.pageWindow()
	for at, n := 0, 1; at < len(positions); n = n*3 + 1 {
		n = min(n, len(positions)-at)
		got, err := pages.take(t.Context(), int64(at), int64(n))
		if err != nil || !bytes.Equal(got, positions[at:at+n]) {
			t.Fatalf("%d bytes at %d: %v", n, at, err)
		}
		at += n
	}
	if source.reads != 3 {
		t.Errorf("%d reads, want 3", source.reads)
	}
	if _, err := pages.take(t.Context(), int64(len(positions)), 1); !errors.Is(err, ErrDamaged) {
		t.Errorf("behind the end: %v", err)
	}
	again := s.pageWindow()
	if _, err := again.take(t.Context(), 1, 1); !errors.Is(err, ErrDamaged) {
		t.Errorf("out of order: %v", err)
	}
}
