package analysis

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func sorted[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// FuzzEach checks that occurrences lie inside the text and in order, and that terms are short and
// valid UTF-8. A second call of Each, which takes the terms from the cache, must return the same
// occurrences. If the surface form of a word (Occurrence.Word) is analysed as a text, it must give
// the same term as the word.
func FuzzEach(f *testing.F) {
	languages := sorted(table)
	for i, name := range languages {
		f.Add(uint8(i), fixtures[name])
	}
	f.Add(uint8(0), "½⑴㎏ﷺ℃ Ⅳ ﬁ ǆ ŉ ㋿㍿ゟ ﾞｶﾞ \u200b་་\u0e40\u0e40\u1039\u103a\u17d2")
	f.Fuzz(func(t *testing.T, number uint8, text string) {
		name := languages[int(number)%len(languages)]
		a := For(name)
		first := check(t, a, text)
		if diff := cmp.Diff(first, check(t, a, text)); diff != "" {
			t.Errorf("the second time (-want +got):\n%s", diff)
		}
		for _, o := range first {
			if o.Word == "" {
				continue
			}
			again := check(t, a, o.Word)
			if len(again) == 0 || again[0].Term != o.Term || again[0].Word != o.Word || again[0].End != len(o.Word) {
				t.Errorf("%q of %q: its word gives %+v", o.Word, text[o.Start:o.End], again)
			}
		}
		Query(text, analyzersOf("en", name))
	})
}

// check returns the occurrences in a text. The test fails if one of them is outside of the text or
// out of order, or if its term is invalid.
func check(t *testing.T, a *Analyzer, text string) (all []Occurrence) {
	var last Occurrence
	length := a.Each(text, func(o Occurrence) bool {
		if o.Start < last.Start && o.Parts < 2 || o.Parts > 1 && o.End != last.End || o.Start >= o.Half || o.Half > o.End || o.End > len(text) || o.Position < last.Position || o.Position < 1 {
			t.Errorf("%+v follows %+v", o, last)
		}
		if o.Position > last.Position && o.Start < last.Half && last.Position > 0 {
			t.Errorf("%+v begins inside %+v", o, last)
		}
		if o.Term == "" || len(o.Term) > maxTerm || !utf8.ValidString(o.Term) || !utf8.ValidString(o.Word) {
			t.Errorf("term %q, word %q", o.Term, o.Word)
		}
		if o.Word != strings.ToLower(o.Word) {
			t.Errorf("word %q is not in lower case", o.Word)
		}
		all = append(all, o)
		if o.Parts == 0 { // a joined word begins before its last part
			last = o
		}
		return true
	})
	if length < last.Position {
		t.Errorf("length %d is less than the last position, %d", length, last.Position)
	}
	return all
}

// Occurrence.Word is the surface form of a word: in lower case and NFKC. The test checks for every
// letter that its surface form gets the same term as the letter itself.
func TestSurfaceFormsStandForTheirCharacters(t *testing.T) {
	for _, name := range []string{"", "tr", "vi"} {
		a := For(name)
		for r := rune(0); r <= unicode.MaxRune; r++ {
			if classOf(r) != letter {
				continue
			}
			var first Occurrence
			keep := func(to *Occurrence) func(Occurrence) bool {
				return func(o Occurrence) bool { *to = o; return false }
			}
			a.Each(string(r), keep(&first))
			var again Occurrence
			a.Each(first.Word, keep(&again))
			if first.Term == "" && fold(string(r)) == "" {
				continue // only a tatweel
			}
			if again.Term != first.Term || again.Word != first.Word || again.End != len(first.Word) {
				t.Errorf("%s: %U has the word %q and the term %q, which has %q and %q", name, r, first.Word, first.Term, again.Word, again.Term)
			}
		}
	}
}
