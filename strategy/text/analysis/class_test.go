package analysis

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The shortcuts of classOf and ascii give every character the same class as slowClassOf, which reads
// Unicode's tables.
func TestClassOfIsThatOfTheTables(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if got, want := classOf(r), slowClassOf(r); got != want {
			t.Errorf("%U has the class %d, want %d", r, got, want)
		}
		if r < rune(len(ascii)) && ascii[r] != slowClassOf(r) {
			t.Errorf("%U has the class %d, want %d", r, ascii[r], slowClassOf(r))
		}
	}
}

// Characters for which isPlain returns true are not changed by normalisation.
func TestPlainCharacters(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !isPlain(r) {
			continue
		}
		if s := string(r); fold(surface(s, false)) != s || norm.NFKC.String(s) != s {
			t.Errorf("%U becomes %q", r, fold(surface(s, false)))
		}
	}
}
