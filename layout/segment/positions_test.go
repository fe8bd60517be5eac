package segment

import (
	"bytes"
	"slices"
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

// TestAhead checks whose positions are read together with the terms: the shortest first, up to aheadOfTerms.
func TestAhead(t *testing.T) {
	var index termIndex
	var blocks []wantedBlock
	for i, positions := range []int64{600 << 10, 10, 0, 300 << 10, 200 << 10, aheadOfTerms} {
		index.add(1, positions, 1)
		blocks = append(blocks, wantedBlock{number: i})
	}
	if got, want := index.ahead(blocks), []int{1, 4, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := index.ahead(blocks[:1]), []int{0}; !slices.Equal(got, want) {
		t.Errorf("alone: %v, want %v", got, want)
	}
}
