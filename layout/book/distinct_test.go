package book

import (
	"bytes"
	"testing"
)

func TestDistinct(t *testing.T) {
	for name, b := range map[string]Book{"empty": {}, "example": example()} {
		content := mustEncode(t, b)
		if !bytes.Equal(Distinct(content, 0), content) {
			t.Errorf("%s: copy 0 is not the book that Encode writes", name)
		}
		seen := map[string]bool{string(content): true}
		for _, number := range []uint32{1, 2, 1<<32 - 1} {
			other := Distinct(content, number)
			if seen[string(other)] {
				t.Errorf("%s: copy %d has the bytes of another", name, number)
			}
			seen[string(other)] = true
			got, err := Decode(other)
			if err != nil {
				t.Fatalf("%s: copy %d: %v", name, number, err)
			}
			if d := difference(b, got); d != "" {
				t.Errorf("%s: copy %d says something else (-want +got)\n%s", name, number, d)
			}
			if !bytes.Equal(Distinct(other, 0), content) {
				t.Errorf("%s: copy 0 of copy %d is another", name, number)
			}
			directory, err := parseDirectory(other)
			if err != nil || directory.copy != number {
				t.Errorf("%s: copy %d calls itself %d, %v", name, number, directory.copy, err)
			}
		}
	}
}
