package layout_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
)

// TestSeal checks that a sealed object with any bit changed is refused, and that an object without
// a sum is returned unchanged.
func TestSeal(t *testing.T) {
	for _, object := range []string{`{}`, `{"a":1}`, `{"a":"sum","b":[{"sum":"x"}]}`} {
		sealed := layout.Seal([]byte(object))
		if got, was, err := layout.Unseal(sealed); string(got) != object || !was || err != nil {
			t.Errorf("%s: got %s, %v, %v", object, got, was, err)
		}
		for bit := range 8 * len(sealed) {
			damaged := bytes.Clone(sealed)
			damaged[bit/8] ^= 1 << (bit % 8)
			if got, _, err := layout.Unseal(damaged); !errors.Is(err, layout.ErrSum) {
				t.Fatalf("%s: bit %d: got %s, %v", sealed, bit, got, err)
			}
		}
		for _, written := range []string{object, object + "\n", object + "\n                                              ", ""} {
			if got, was, err := layout.Unseal([]byte(written)); string(got) != written || was || err != nil {
				t.Errorf("%q: got %s, %v, %v", written, got, was, err)
			}
		}
	}
	if got := layout.Seal([]byte(`{"a":1}`)); string(got) != `{"a":1,"sum":"015abd7f5cc57a2dd94b7590f04ad808"}`+"\n" {
		t.Errorf("got %s", got)
	}
}
