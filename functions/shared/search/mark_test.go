package search

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestEachSkipsNoMatch marks random texts in two ways: by the method each, which skips most of a text unread, and
// word by word. Both must find the same matches and end at the same offset, wherever the text is cut.
func TestEachSkipsNoMatch(t *testing.T) {
	pieces := []string{"fox", "Foxes", "e", "-", "_", "mail", "email", "Mails", "é", "café", "cafe", " ", " ", " ", ".", "\n", "’", "–", "‐", "“",
		"c", "C++", "++", "x", "7", "os.path", "лиса", "лисы", "搜索", "引擎", "dying", "dies", "naïve", "\xe2", "\x80", "HttpClient", "client"}
	random := rand.New(rand.NewPCG(1, 1))
	for _, query := range []string{"fox", "e-mail", "c", "c++ fox", "café", "лиса", "搜索引擎", "die", "naive mail", "HttpClient", "x 7"} {
		m, reference := markerFor(query), markerFor(query)
		reference.bits = math.MaxUint64 // analyses all words again
		m.begin(&segment.Document{Lang: "en"})
		reference.begin(&segment.Document{Lang: "en"})
		found := 0
		for range 100 {
			var text strings.Builder
			for range random.IntN(30) {
				text.WriteString(pieces[random.IntN(len(pieces))])
			}
			whole := text.String()
			for end := range len(whole) + 1 {
				var got, want []span
				limit, from := end, 0
				at := m.each(whole, 0, &limit, func(s span) { got = append(got, s) })
				for from < end {
					from = reference.oneWord(whole, from, func(s span) { want = append(want, s) })
				}
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(span{})); diff != "" || at != from {
					t.Fatalf("%q in %q, to %d: ends at %d, not %d; %s", query, whole, end, at, from, diff)
				}
				found += len(got)
			}
		}
		if found == 0 {
			t.Errorf("%q was found nowhere", query)
		}
		m.end()
		reference.end()
	}
}

// TestMarkTellsWordsFromLanguages marks a word that is also the code of a language, in texts of two languages. The
// cache of words must not take the Catalan word no for the Norwegian word ca.
func TestMarkTellsWordsFromLanguages(t *testing.T) {
	m := markerFor("ca nova") // so that words with n and o at the beginning are looked up
	for _, text := range []struct{ language, words, want string }{{"no", "ca", "[ca]"}, {"ca", "no", "no"}} {
		d := page("a", "")
		d.Lang, d.Title = text.language, text.words
		if got := bracketed(m.hit(&d).MarkedTitle); got != text.want {
			t.Errorf("%s: %q is marked as %q, want %q", text.language, text.words, got, text.want)
		}
	}
}

func TestMarkJoinedWords(t *testing.T) {
	for _, test := range []struct{ query, want string }{
		{"email", "[e-mail] of a pre-c++-program"},
		{"mails", "e-[mail] of a pre-c++-program"},
		{"programming", "e-mail of a pre-c++-[program]"},
		{"c", "e-mail of a pre-[c]++-program"},
		{"e", "[e]-mail of a pre-c++-program"},
		{"mailer preprogram", "e-mail of a pre-c++-program"},
	} {
		if got := bracketed(titleFor(test.query, "e-mail of a pre-c++-program")); got != test.want {
			t.Errorf("%s: %q, want %q", test.query, got, test.want)
		}
	}
}
