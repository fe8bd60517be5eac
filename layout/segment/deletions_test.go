package segment

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring"
)

func TestDeletions(t *testing.T) {
	for _, docs := range [][]uint32{nil, {0}, {0, 1}, {5, 6, 7, 9}, {99}, {0, 50, 51, 98, 99}} {
		d := Deletions{Documents: 100, Dead: roaring.BitmapOf(docs...)}
		content, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeDeletions(content)
		if err != nil || got.Documents != 100 || !slices.Equal(got.Dead.ToArray(), d.Dead.ToArray()) {
			t.Errorf("%v reads as %v, %v", docs, got.Dead.ToArray(), err)
		}
		d.Dead.RunOptimize()
		if again, err := d.Encode(); err != nil || !bytes.Equal(content, again) {
			t.Errorf("%v is not always encoded the same", docs)
		}
		for i := range content {
			changed := slices.Clone(content)
			changed[i] ^= 0x10
			if _, err := DecodeDeletions(changed); !errors.Is(err, ErrDamaged) {
				t.Errorf("%v with byte %d changed: %v", docs, i, err)
			}
		}
	}
	if _, err := (Deletions{Documents: 5, Dead: roaring.BitmapOf(5)}).Encode(); err == nil {
		t.Error("a document behind the last was deleted")
	}
}
