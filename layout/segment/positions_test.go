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
