package document

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for _, text := range []string{
		"", " ", "a", "a b", " a", "a ", "a  b", "a\tb", "\na b\n", "é b", "é\u00A0 b", "a\u2003b", "a\x00b", "a\x7Fb",
	} {
		if got, want := fold(text), strings.Join(strings.Fields(text), " "); got != want {
			t.Errorf("fold(%q) = %q, want %q", text, got, want)
		}
	}
}

// What is white space to Unicode is, at either end and within.
func TestFlowFoldsWhiteSpace(t *testing.T) {
	for pieces, want := range map[string]string{
		"a| |b":              "a b",
		"a\u00A0|\u00A0b":    "a b",
		"|a |\t b\n\nc|d ":   "a b cd ",
		" a":                 "a",
		"a\u2003\u0085b|é é": "a bé é",
	} {
		var f flow
		for piece := range strings.SplitSeq(pieces, "|") {
			f.add(piece)
		}
		if got := string(f.text); got != want {
			t.Errorf("%q became %q, want %q", pieces, got, want)
		}
	}
}
