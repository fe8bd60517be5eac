package search

import (
	"testing"

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
