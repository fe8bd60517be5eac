package search

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestPassages checks which words the best passage of a text has.
func TestPassages(t *testing.T) {
	for _, c := range []struct {
		name string
		text string // each letter is a word: a to c are words of the query, x, y and z its stop words, dots other words
		want string // words of the query in the best passage
	}{
		{"nothing", "....", ""},
		{"one word", "..a..", "a"},
		{"all", "abcxyz", "abcxyz"},
		{"in any order", "..c...a....b", "abc"},
		{"as far apart as allowed", "a" + strings.Repeat(".", passageWidth-1) + "b", "ab"},
		{"too far apart", "a" + strings.Repeat(".", passageWidth) + "b", "a"},
		{"the second passage is better", "ab" + strings.Repeat(".", 30) + "abc", "abc"},
		{"the first passage is better", "abc" + strings.Repeat(".", 30) + "ab", "abc"},
		{"repeated words count once", "aaaaaa" + strings.Repeat(".", 30) + "ab", "ab"},
		{"stop words before and after", "x.a.y", "axy"},
		{"stop words alone", "xyz", ""},
		{"stop words far from other words", "a" + strings.Repeat(".", 30) + "xyz" + strings.Repeat(".", 30) + "bx", "bx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ph, positions := passageQuery(c.text)
			want := 0.0
			for i, word := range "abcxyz" {
				if strings.ContainsRune(c.want, word) {
					want += ph.shares[i]
				}
			}
			var r passageReader
			for range 2 { // with memory of the call before
				if got := r.best(ph, positions); got != want {
					t.Errorf("the best passage of %q has a share of %v, want %v", c.text, got, want)
				}
			}
		})
	}
}

// passageQuery returns the words a to c and the stop words x, y and z of a query, and the positions of these
// words in a text of single letters.
func passageQuery(text string) (*queryPhrase, [][]uint32) {
	ph := &queryPhrase{shares: []float64{0.375, 0.25, 0.125, 0.125, 0.0625, 0.0625}} // sums of these are exact
	var positions [][]uint32
	for _, word := range "abcxyz" {
		w := &queryWord{}
		if word >= 'x' {
			w.stop = 1
		}
		var at []uint32
		for i, letter := range text {
			if letter == word {
				at = append(at, uint32(i+1))
			}
		}
		ph.words, positions = append(ph.words, w), append(positions, at)
	}
	return ph, positions
}

// TestPassagesOfRandomTexts compares the best passages with those that a search of all passages finds.
func TestPassagesOfRandomTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var r passageReader
	for range 2000 {
		text := make([]byte, random.IntN(200))
		for i := range text {
			text[i] = "abcxyz...................."[random.IntN(26)]
		}
		ph, positions := passageQuery(string(text))
		near := slices.Clone(text) // without the stop words that are far from all other words
		for i := range near {
			if around := text[max(0, i-passageWidth):min(len(text), i+passageWidth+1)]; !strings.ContainsAny(string(around), "abc") {
				near[i] = '.'
			}
		}
		want := 0.0
		for from := range near {
			share := 0.0
			for i, word := range "abcxyz" {
				if strings.ContainsRune(string(near[from:min(len(near), from+passageWidth+1)]), word) {
					share += ph.shares[i]
				}
			}
			want = max(want, share)
		}
		if got := r.best(ph, positions); got != want {
			t.Fatalf("the best passage of %q has a share of %v, want %v", text, got, want)
		}
	}
}

// TestQuestion finds the page that answers a question in one sentence before a page that has all words of the
// question, and has them more often, but far from each other.
func TestQuestion(t *testing.T) {
	filler := func(words int) string { return strings.Repeat("lorem ipsum dolor ", words/3) }
	scattered := strings.Join([]string{"storks", "build", "nests", "chimneys", "storks", "build", "nests", "chimneys"}, " "+filler(60))
	together := filler(240) + "Chimneys and towers are the places where in spring, year after year, nests are what storks like best to build. " + filler(180)
	ix := indexOf(t, []segment.Document{page("http://a/scattered", scattered), page("http://a/together", together)})
	got := find(t, ix, Query{Text: "why do storks build nests on chimneys", Size: 10})
	var addresses []string
	for _, hit := range got.Hits {
		addresses = append(addresses, hit.URL)
	}
	if want := []string{"http://a/together", "http://a/scattered"}; !slices.Equal(addresses, want) {
		t.Errorf("results are %q, want %q", addresses, want)
	}
}
