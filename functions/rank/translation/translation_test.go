package translation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/dictionary"
)

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"One. Two! Three?":                 {"One.", "Two!", "Three?"},
		"A heading\nA line. Its end":       {"A heading", "A line.", "Its end"},
		"By J. S. Bach, in 3.14 of a.b":    {"By J. S. Bach, in 3.14 of a.b"},
		"一。二！三":                            {"一。", "二！", "三"},
		"\n \n":                            nil,
		"broken \xff. Still read. \xffEnd": {"broken \xff. Still read.", "\xffEnd"},
	} {
		if got, cut := sentences(text, 10); !slices.Equal(got, want) || cut != 0 {
			t.Errorf("%q: got %q and %d bytes cut, want %q", text, got, cut, want)
		}
	}
	if got, cut := sentences("One. Two. Three.\nFour.", 2); len(got) != 2 || cut != len(" Three.Four.") {
		t.Errorf("got %q and %d bytes cut", got, cut)
	}
}

// long returns a sentence of n characters.
func long(n int) string { return strings.Repeat("x", n) }

func TestAlign(t *testing.T) {
	for name, c := range map[string]struct {
		text, other []int
		want        []bead
	}{
		"one by one":     {[]int{40, 90, 20}, []int{42, 88, 23}, []bead{{0, 1, 0, 1}, {1, 2, 1, 2}, {2, 3, 2, 3}}},
		"two are one":    {[]int{40, 90, 80, 20}, []int{42, 172, 23}, []bead{{0, 1, 0, 1}, {1, 3, 1, 2}, {3, 4, 2, 3}}},
		"one is two":     {[]int{40, 170, 20}, []int{42, 95, 76, 23}, []bead{{0, 1, 0, 1}, {1, 2, 1, 3}, {2, 3, 3, 4}}},
		"one is missing": {[]int{160, 220, 35, 175}, []int{161, 219, 177}, []bead{{0, 1, 0, 1}, {1, 3, 1, 2}, {3, 4, 2, 3}}}, // it goes with a neighbour
		"nothing":        {nil, []int{10, 20}, nil},
	} {
		var text, other []string
		for _, n := range c.text {
			text = append(text, long(n))
		}
		for _, n := range c.other {
			other = append(other, long(n))
		}
		if diff := cmp.Diff(c.want, align(text, other), cmp.AllowUnexported(bead{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// FuzzAlign checks, for any two texts, that the aligned groups of sentences follow each other and
// lie within the texts.
func FuzzAlign(f *testing.F) {
	f.Add("One. Two.\nThree", "Eins und zwei. Drei.")
	f.Add("", "\xff.")
	f.Fuzz(func(t *testing.T, a, b string) {
		text, _ := sentences(a, 50)
		other, _ := sentences(b, 50)
		last := bead{}
		for _, of := range align(text, other) {
			if of.from < last.to || of.fromOther < last.toOther || of.to <= of.from || of.toOther <= of.fromOther || of.to > len(text) || of.toOther > len(other) {
				t.Fatalf("%v follows %v", of, last)
			}
			last = of
		}
	})
}

// learn learns dictionaries from pages. Each page is given as two strings: its lines of text, and the
// translations of these lines.
func learn(t *testing.T, limits Limits, pages ...[2]string) (forth, back map[string]string, s Summary) {
	t.Helper()
	l := NewLearner("en", "de", limits)
	for _, p := range pages {
		l.Add(Text{Body: p[0]}, Text{Body: p[1]})
	}
	there, here, s, err := l.Learn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	best := func(entries []dictionary.Entry) map[string]string {
		all := make(map[string]string)
		for _, e := range entries {
			all[e.Term] = e.Translations[0].Term
		}
		if _, err := dictionary.Encode("en", "de", entries); err != nil {
			t.Error(err)
		}
		return all
	}
	return best(there), best(here), s
}

var lesson = [][2]string{
	{"the house\nthe book\na book", "das Haus\ndas Buch\nein Buch"},
	{"a house\nthe car and a book", "ein Haus\ndas Auto und ein Buch"},
	{"a car\nthe dog and the house", "ein Auto\nder Hund und das Haus"},
	{"a dog and a car", "ein Hund und ein Auto"},
}

func TestLearn(t *testing.T) {
	forth, back, s := learn(t, DefaultLimits(), lesson...)
	for english, want := range map[string]string{"hous": "haus", "book": "buch", "car": "auto", "dog": "hund", "a": "ein", "and": "und"} {
		if forth[english] != want || back[want] != english {
			t.Errorf("%s is translated by %q, and %s by %q", english, forth[english], want, back[want])
		}
	}
	if _, once := back["der"]; once {
		t.Error("a term that occurs once is translated")
	}
	if s.Pages != 4 || s.Sentences != 8 || s.Cut != (Cut{}) {
		t.Errorf("%+v", s)
	}
	again, _, _ := learn(t, DefaultLimits(), lesson...)
	if diff := cmp.Diff(forth, again); diff != "" {
		t.Errorf("the same pages give other translations: %s", diff)
	}
}

// TestLimits checks that learning counts what it leaves out of pages because of its limits.
func TestLimits(t *testing.T) {
	if _, _, s := learn(t, Limits{Sentences: 1, Pairs: 1 << 20}, lesson...); s.Sentences != 4 || s.Cut.Bytes == 0 {
		t.Errorf("one sentence of a page: %+v", s)
	}
	if _, _, s := learn(t, Limits{Sentences: 500, Pairs: 40}, lesson...); s.Sentences+s.Cut.Sentences != 8 || s.Cut.Sentences == 0 {
		t.Errorf("few pairs: %+v", s)
	}
	var words []string
	for i := range mostTerms + 1 {
		words = append(words, fmt.Sprint("word", i))
	}
	if _, _, s := learn(t, DefaultLimits(), [2]string{strings.Join(words, " "), "Wort"}); s.Cut.Long != 1 {
		t.Errorf("a long sentence: %+v", s)
	}
}

func TestCancelled(t *testing.T) {
	l := NewLearner("en", "de", DefaultLimits())
	l.Add(Text{Body: "house"}, Text{Body: "Haus"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := l.Learn(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
