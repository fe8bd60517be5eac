package segment

import (
	"bytes"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

func TestPages(t *testing.T) {
	for _, total := range []int{0, 1, pageContent - 1, pageContent, pageContent + 1, 5*pageContent + 7} {
		positions := make([]byte, total)
		for i := range positions {
			positions[i] = byte(i * 7 / 3)
		}
		object := appendPages(nil, positions)
		if int64(len(object)) != sizeInPages(int64(total)) {
			t.Errorf("%d bytes take %d, want %d", total, len(object), sizeInPages(int64(total)))
		}
		for from := 0; from < total; from += 97 {
			for _, size := range []int{1, 100, pageContent, pageContent + 1, total - from} {
				size = min(size, total-from)
				r := blob.Range{Offset: int64(from), Length: int64(size)}
				pages := pagesOf(r, int64(total))
				got, err := fromPages(object[pages.Offset:][:pages.Length], r)
				if err != nil || !bytes.Equal(got, positions[from:][:size]) {
					t.Fatalf("%d bytes at %d of %d: %v", size, from, total, err)
				}
			}
		}
	}
}

// TestPageWriter writes positions in parts of every size, as pages at once.
func TestPageWriter(t *testing.T) {
	const enough = sealedPages * pageContent
	for _, sizes := range [][]int{{}, {1}, {enough}, {enough - 1, 1, 1}, {7, 3*enough + 5, 0, enough}} {
		var w pageWriter
		var all []byte
		for _, size := range sizes {
			for i := range size {
				w.open = append(w.open, byte(i*7/3))
				all = append(all, byte(i*7/3))
			}
			w.seal()
			if w.size() != int64(len(all)) {
				t.Fatalf("%v: %d bytes, want %d", sizes, w.size(), len(all))
			}
		}
		if !bytes.Equal(w.appendTo([]byte("before")), appendPages([]byte("before"), all)) {
			t.Errorf("%v: other bytes", sizes)
		}
	}
}
