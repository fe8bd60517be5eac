package book

import (
	"context"
	"iter"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Standing holds the outcomes of one URL that count; all others are superseded. The
// order of Add does not matter. A field is nil if there is no such outcome.
type Standing struct {
	Final *Outcome // the highest final one; but no Unchanged where the highest of the others says that the page is gone
	Page  *Outcome // the highest that is Stored or Lost: where the page is, if anywhere
	Asked *Outcome // the highest that is not final, if it is higher than all that are

	gone, unchanged, asked *Outcome // the highest that is Failed or Skipped, that is Unchanged, and that is not final
}

// Add adds an outcome of the URL, if it supersedes the present one of its kind. It must
// not be changed afterwards.
func (s *Standing) Add(o *Outcome) {
	of := &s.asked
	switch {
	case o.State == Stored || o.State == Lost:
		of = &s.Page
	case o.State == Unchanged:
		of = &s.unchanged
	case o.State == Failed || o.State == Skipped:
		of = &s.gone
	}
	if supersedes(o, *of) {
		*of = o
	}
	s.Final = highest(s.Page, s.gone)
	last := highest(s.Final, s.unchanged)
	if s.Final == nil || s.Final == s.Page {
		s.Final = last
	}
	s.Asked = nil
	if last == nil || s.asked != nil && s.asked.Version.Compare(last.Version) > 0 {
		s.Asked = s.asked
	}
}

func highest(o, p *Outcome) *Outcome {
	if supersedes(p, o) {
		return p
	}
	return o
}

// supersedes reports whether o replaces known: its version is higher; or, which only
// damage can cause, the versions are equal and o comes first by Compare. A nil known
// is always replaced.
func supersedes(o, known *Outcome) bool {
	if o == nil || known == nil {
		return o != nil
	}
	if c := o.Version.Compare(known.Version); c != 0 {
		return c > 0
	}
	return o.Compare(*known) < 0
}

// outcomes returns the outcomes that count, and those that may count when more are
// known, sorted.
func (s *Standing) outcomes() []Outcome {
	var all []Outcome
	var last *Outcome
	for _, o := range []*Outcome{s.Page, s.gone, s.unchanged, s.Asked} {
		if supersedes(o, last) {
			last = o
			all = append(all, *o)
		}
	}
	slices.SortFunc(all, Outcome.Compare)
	return all
}

// Stands reports whether a stored page of the URL counts.
func (s *Standing) Stands() bool {
	return s.Page != nil && s.Page.State == Stored && (s.Final.State == Stored || s.Final.State == Unchanged)
}

// Gone reports whether a page of the URL was stored and is gone by the last outcome.
func (s *Standing) Gone() bool {
	return s.Page != nil && (s.Final.State == Failed || s.Final.State == Skipped)
}

// Standings yields the standing of every URL in any of the books, in the order of their
// places. A standing is valid until the next one. Memory holds of each book the bytes
// of one request and one block. An error ends the sequence.
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
