package segment

import (
	"fmt"
	"testing"
)

func TestTermSeparator(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"use", "useful", "usef"},
		{"use", "used", "use\x04\x02"}, // "used" is not below itself
		{"baba", "babe", "baba\x04\x02"},
		{"use\x03\x02", "used", "use\x04\x02"},
		{"use", "use\x02", "use"}, // the next block begins with a marked form
		{"use", "use\x04\x02", "use\x04"},
		{"use\x04\x02", "used", "use\x04\x02"},
	} {
		if got := string(termSeparator([]byte(c.a), []byte(c.b))); got != c.want {
			t.Errorf("%q and %q are separated by %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// TestMarkedTermsTakeNoFurtherBlock looks up each term of a segment with its marked forms, which the segment lacks. All of
// them must be looked for in one block of terms.
func TestMarkedTermsTakeNoFurtherBlock(t *testing.T) {
	docs := generate(1, 1)
	for i := range 5000 {
		docs[0].Body += fmt.Sprintf(" a%d", i) // a10 is followed by a100: they differ by one byte
	}
	s := mustOpen(t, mustBuild(t, docs, 0))
	if len(s.tail.terms.counts) < 5 {
		t.Fatalf("there are %d blocks of terms", len(s.tail.terms.counts))
	}
	for i := range 5000 {
		term := fmt.Sprintf("a%d", i)
		if blocks := s.tail.terms.divide([]string{term, NameTerm(term), DefinitionTerm(term), ImageTerm(term)}); len(blocks) != 1 {
			t.Errorf("%s is looked for in %d blocks", term, len(blocks))
		}
	}
}
