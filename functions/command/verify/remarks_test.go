package verify

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRemarks(t *testing.T) {
	var r remarks
	for _, url := range []string{"g", "b", "a", "f", "c", "d", "e"} {
		r.add("cut", url)
	}
	r.add("needs scripts", "x")
	r.add("", "y")
	want := []string{
		"stored, but not known in full or for certain: 7 (cut): a, b, c, d, e, …",
		"stored, but not known in full or for certain: 1 (needs scripts): x",
	}
	if diff := cmp.Diff(want, r.notes()); diff != "" {
		t.Error(diff)
	}
}
