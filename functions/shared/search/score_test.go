package search

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// TestLengthOfLongPages checks that a body of ten times the average length scores like one of three times only in a
// short query.
func TestLengthOfLongPages(t *testing.T) {
	l := corpusLanguage{name: "en", documents: 10}
	l.average[segment.Body] = 100
	for _, long := range []bool{false, true} {
		s := newStatistics([]queryLanguage{{corpusLanguage: &l, share: 1}}, standard, long)
		gain := func(length uint32) float64 { return s.gain[segment.Body][postings.LengthCode(length)] }
		if three, ten := gain(320), gain(1000); long != (ten < three) || ten > three {
			t.Errorf("long query: %v: gain %v at the length 320, %v at 1000", long, three, ten)
		}
	}
}

// TestCrammedAndThin searches for a word that is all that two pages have: one has it hundreds of times, also in its
// title, and the other hardly anything else. The page that is about it must come first.
func TestCrammedAndThin(t *testing.T) {
	filler := strings.Repeat("Sediment moves along the banks while fish migrate in spring. ", 12)
	about := page("http://about/", filler+"The pangolin eats ants. A pangolin sleeps by day.")
	thin, crammed := page("http://thin/", "pangolin"), page("http://crammed/", strings.Repeat("pangolin ", 600))
	about.Title, thin.Title, crammed.Title = "Pangolin care", "Pangolin", strings.Repeat("pangolin ", 30)
	docs := []segment.Document{about, thin, crammed}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		docs = append(docs, page("http://other/"+name, filler))
	}
	ix := indexOf(t, docs)
	if diff := cmp.Diff([]string{"http://about/", "http://thin/", "http://crammed/"}, urls(t, ix, "pangolin")); diff != "" {
		t.Error(diff)
	}
	word := find(t, ix, Query{Text: "pangolin", Size: 10, Explain: true}).Hits[2].Explanation.Parts[0]
	if body := word.Parts[len(word.Parts)-1].What; !strings.Contains(body, "600 times, too often for a text, of which one counts") {
		t.Errorf("the explanation does not say what was left out: %s", body)
	}
}
