package book

import (
	"context"
	"iter"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Stands reports whether a page of the URL is stored and counts.
func (s *Standing) Stands() bool {
	return s.Page != nil && s.Page.State == Stored && (s.Final.State == Stored || s.Final.State == Unchanged)
}

// Gone reports whether a page of the URL was stored, and the last outcome says
// that it is no more.
func (s *Standing) Gone() bool {
	return s.Page != nil && (s.Final.State == Failed || s.Final.State == Skipped)
}

// Standings yields what counts of every URL of which any of the books tells, in
// the order of their places. It is valid until the next. In memory are, of each
// book, a request's bytes and a block. An error ends the sequence.
func Standings(ctx context.Context, books []*Reader) iter.Seq2[Standing, error] {
	return standings(ctx, books, Filter{})
}

func standings(ctx context.Context, books []*Reader, f Filter) iter.Seq2[Standing, error] {
	var sequences []iter.Seq2[Outcome, error]
	for _, b := range books {
		sequences = append(sequences, filterOutcomes(b.Outcomes(ctx, layout.Range{}), f))
	}
	sameURL := func(o, p Outcome) int { return compareURL(o.Place, o.URL, p.Place, p.URL) }
	return func(yield func(Standing, error) bool) {
		for ofURL, err := range mergeGroups(sequences, sameURL) {
			var s Standing
			for i := range ofURL {
				s.Add(&ofURL[i])
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}
