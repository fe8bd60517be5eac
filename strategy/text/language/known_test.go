package language

import (
	"slices"
	"strings"
	"testing"
)

// TestKnown: Known returns only codes of existing languages, among them all that are required.
func TestKnown(t *testing.T) {
	known := Known()
	if !slices.IsSorted(known) || len(slices.Compact(slices.Clone(known))) != len(known) {
		t.Errorf("not sorted, or twice: %q", known)
	}
	for _, code := range append(required, "ckb", "el", "he") {
		if !slices.Contains(known, code) {
			t.Errorf("%s is not known", code)
		}
	}
	for _, code := range known {
		if len(code) < 2 || len(code) > 3 || strings.ToLower(code) != code {
			t.Errorf("%q is no code", code)
		}
	}
	t.Log(known)
}
