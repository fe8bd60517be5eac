package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestManyExpansions checks that a query of many prefixes costs no more than one of a few, and says so.
func TestManyExpansions(t *testing.T) {
	var docs []segment.Document
	var query []string
	for i := range MaxExpanding + 2 {
		letter := string(rune('a' + i))
		query = append(query, letter+"x*")
		for n := range MaxExpansions { // the first word is in the most documents, the last in the fewest
			docs = append(docs, page(fmt.Sprintf("http://%s/%d", letter, n), letter+"x "+strings.Join(wordsFrom(letter+"x", n), " ")))
		}
	}
	ix := indexOf(t, docs)
	q := Query{Text: strings.Join(query, " ")}
	p := ix.plan(&q, false)
	if err := ix.newSearch(&q, p).expand(withoutDeadline(t.Context())); err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, w := range p.words {
		terms := make(map[string]bool)
		for _, v := range w.variants {
			terms[v.term] = true
		}
		got = append(got, len(terms)/2) // each has a second form, for words outside of the main part
	}
	want := slices.Repeat([]int{maxExpanded / MaxExpanding}, MaxExpanding)
	if diff := cmp.Diff(append(want, 1, 1), got); diff != "" {
		t.Errorf("number of terms of each word (-want +got):\n%s", diff)
	}
	const note = "Only the first 8 prefixes and words with edits of the query stand for other words; the others were searched as they stand."
	if !slices.Contains(p.notes, note) {
		t.Errorf("notes: %q", p.notes)
	}
}

// wordsFrom returns words that consist of the given beginning and a number of two digits: from n up to, but not
// including, MaxExpansions.
func wordsFrom(beginning string, n int) (words []string) {
	for i := n; i < MaxExpansions; i++ {
		words = append(words, fmt.Sprintf("%s%02d", beginning, i))
	}
	return words
}

func TestFoldsOnlyTheFirstHits(t *testing.T) {
	var docs []segment.Document
	for i := range maxFolded + 20 {
		docs = append(docs, titled(fmt.Sprintf("http://a/%d", i), "en", "One", textOf("a", 300)))
	}
	ix := indexOf(t, docs)
	for from, want := range map[int][]string{
		0: nil, maxFolded - 9: {"Beyond hit 500, pages with the same text are shown one by one, and some again."},
	} {
		found := find(t, ix, Query{Text: "kernel", From: from, Size: 10, Fold: true})
		if diff := cmp.Diff(want, found.Notes); diff != "" {
			t.Errorf("notes from %d (-want +got):\n%s", from, diff)
		}
		if folds := slices.ContainsFunc(found.Hits, func(h Hit) bool { return len(h.Alike) > 0 }); folds != (want == nil) {
			t.Errorf("from %d, a hit stands for others: %v", from, folds)
		}
	}
}
