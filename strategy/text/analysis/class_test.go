package analysis

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The classes of the usual characters are those that Unicode's tables give.
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

// Plain characters need no normalisation.
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
