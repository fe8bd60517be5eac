package analysis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClusters(t *testing.T) {
	tests := []struct{ text, want string }{
		{"日本語", "日|本|語"},
		{"한국어", "한|국|어"},
		{"ยินดีที่ได้", "ยิ|น|ดี|ที่|ได้"},
		{"เมืองไทย", "เมื|อ|ง|ไท|ย"},
		{"น้ำมาก", "น้ำ|มา|ก"},
		{"ສະບາຍດີ", "ສະ|ບາ|ຍ|ດີ"},
		{"ເມືອງລາວ", "ເມື|ອ|ງ|ລາ|ວ"},
		{"កម្ពុជា", "ក|ម្ពុ|ជា"},
		{"ខ្ញុំស្រឡាញ់", "ខ្ញុំ|ស្រ|ឡា|ញ់"},
		{"မြန်မာနိုင်ငံ", "မြန်|မာ|နိုင်|ငံ"},
		{"အင်္ဂလိပ်", "အင်္ဂ|လိပ်"},
		{"သတ္တဝါ", "သတ္တ|ဝါ"},
		{"ခွင့်", "ခွင့်"},
		{"ခွင\u1037\u103A့", "ခွင\u1037\u103A့"},
		{"བོད་ཡིག", "བོད|ཡིག"},
		{"བསྒྲུབས་པའི་", "བསྒྲུབས|པའི"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			var got []string
			For("").Each(test.text, func(o Occurrence) bool {
				got = append(got, test.text[o.Start:o.Half])
				return true
			})
			if diff := cmp.Diff(test.want, strings.Join(got, "|")); diff != "" {
				t.Errorf("clusters (-want +got):\n%s", diff)
			}
		})
	}
}

// index holds the terms of a text by position.
type index map[int][]Occurrence

func indexOf(name, text string) index {
	terms := index{}
	For(name).Each(text, func(o Occurrence) bool {
		terms[o.Position] = append(terms[o.Position], o)
		return true
	})
	return terms
}

// finds reports whether the words of a query occur in the text one after another, as a phrase that
// begins at the given position.
func (x index) finds(words []Word, position int) bool {
	for _, w := range words {
		found := false
		for _, o := range x[position+w.Position-words[0].Position] {
			if _, ok := match(&w, o); ok {
				found = true
			}
		}
		if !found {
			return false
		}
	}
	return len(words) > 0
}

// TestAnyPieceIsFound cuts pieces out of texts. A piece begins and ends at the boundaries of words
// or, in scripts without spaces, of characters. A phrase query for the piece must match the text at
// the place from which the piece was cut. The words of the query have the terms of two languages:
// that of the text and an unknown one.
func TestAnyPieceIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for name, text := range fixtures {
		t.Run(name, func(t *testing.T) {
			terms := indexOf(name, text)
			var places []Occurrence // one occurrence for each position
			for position := 1; terms[position] != nil; position++ {
				at := slices.DeleteFunc(slices.Clone(terms[position]), func(o Occurrence) bool { return o.Parts > 0 })
				places = append(places, at[len(at)-1])
			}
			for range 300 {
				first := random.IntN(len(places))
				last := min(first+random.IntN(6), len(places)-1)
				piece := text[places[first].Start:places[last].Half]
				words := slices.DeleteFunc(Query(piece, analyzersOf("xx", name)), func(w Word) bool { return w.Parts > 0 })
				if !terms.finds(words, first+1) {
					t.Fatalf("%q is not found at %d: %+v", piece, first+1, words)
				}
			}
		})
	}
}

// A query of one character of a script without spaces finds this character wherever it is in a text.
// Only this character is marked as found, not the pair whose first character it is.
func TestLoneCharacterIsFound(t *testing.T) {
	tests := []struct{ text, piece string }{
		{"日本語", "日"}, {"日本語", "本"}, {"日本語", "語"}, {"日本語x", "語"},
		{"한국어", "어"}, {"สวัสดีครับ", "ดี"}, {"བོད་ཡིག", "ཡིག"}, {"བོད་ཡིག", "བོད"}, {"မြန်မာ", "မာ"},
	}
	for _, test := range tests {
		t.Run(test.text+" "+test.piece, func(t *testing.T) {
			words := Query(test.piece, analyzersOf(""))
			if len(words) != 1 || !words[0].Lone {
				t.Fatalf("words are %+v", words)
			}
			var found []string
			For("").Each(test.text, func(o Occurrence) bool {
				if end, ok := match(&words[0], o); ok {
					found = append(found, test.text[o.Start:end])
				}
				return true
			})
			if diff := cmp.Diff([]string{test.piece}, found); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

// A character of a script without spaces is not found as the beginning of a longer one, such as a
// consonant in a cluster of the consonant and a vowel.
func TestLoneCharacterIsWhole(t *testing.T) {
	for _, test := range []struct{ text, piece string }{{"ངའི་དེབ", "ང"}, {"กาแฟ", "ก"}, {"မာမ", "မြ"}} {
		words := Query(test.piece, analyzersOf(""))
		For("").Each(test.text, func(o Occurrence) bool {
			if _, ok := match(&words[0], o); ok {
				t.Errorf("%s is found in %s", test.piece, test.text)
			}
			return true
		})
	}
}

// A run of 150,000 characters without a space has one term for each position.
func TestLongRun(t *testing.T) {
	text := strings.Repeat("日本語", 50_000)
	n := 0
	length := For("zh").Each(text, func(o Occurrence) bool { n++; return true })
	if got := fmt.Sprint(n, length); got != "150000 150000" {
		t.Errorf("terms and length are %s", got)
	}
}

// match reports whether an occurrence of a term in a document matches a word of a query, and
// returns the offset in the document at which the match ends. A query of a single character also
// matches the pair of characters that begins with it: then the match ends after the first character
// of the pair.
func match(w *Word, o Occurrence) (end int, ok bool) {
	for _, term := range w.Terms {
		if o.Term == term {
			return o.End, true
		}
		if o.First == term {
			return o.Half, true
		}
	}
	return 0, false
}
