package book

import (
	"context"
	"iter"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Standing holds the few outcomes of a URL that determine its state; all others can be forgotten.
// It is filled by the method Add, which takes the outcomes of the URL one by one, in any order. A
// field is nil if the URL has no such outcome.
type Standing struct {
	// Final is the outcome with the highest version among the Stored, Lost, Failed and Skipped
	// ones. An Unchanged outcome with a higher version takes its place, except after Failed or
	// Skipped: then there is no page that could be unchanged.
	Final *Outcome
	// Page is the Stored or Lost outcome with the highest version. If it is Stored, it names the
	// package of the page.
	Page *Outcome
	// Asked is the Retry or NotAsked outcome with the highest version. It is nil if an outcome of
	// any other State has a higher version.
	Asked *Outcome
	// Books lists the books that hold the page's present links, by their indexes in the argument of
	// Standings. They are the books with the newest outcome of the URL that is Stored, Lost, Failed
	// or Skipped, because links come with such outcomes only. Nearly always this is one book. It is
	// none if the URL has no such outcome. The slice is valid until the next standing is yielded.
	Books []int

	gone      *Outcome // the Failed or Skipped outcome with the highest version
	unchanged *Outcome // the Unchanged outcome with the highest version
	asked     *Outcome // the Retry or NotAsked outcome with the highest version
}

// Add takes one more outcome of the URL into account. The outcome must not be changed
// afterwards.
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

// highest compares two outcomes, and returns the one that supersedes the other; nil if both are nil.
func highest(o, p *Outcome) *Outcome {
	if supersedes(p, o) {
		return p
	}
	return o
}

// supersedes reports whether the first outcome takes the place of the second, because it has a
// higher version. If the versions are equal, which happens only after damage, it does so if Compare
// sorts it before the second. Any outcome takes the place of nil, and nil never takes a place.
func supersedes(o, known *Outcome) bool {
	if o == nil || known == nil {
		return o != nil
	}
	if c := o.Version.Compare(known.Version); c != 0 {
		return c > 0
	}
	return o.Compare(*known) < 0
}

// outcomes returns those outcomes of the URL that a merged book must keep, sorted by Compare: those
// that determine the state of the URL now, and those that may determine it after a merge with further
// books. For example, an Unchanged outcome means nothing without a page, but another book may have
// the outcome that stored the page.
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

// Stands reports whether the URL has a stored page that is still valid.
func (s *Standing) Stands() bool {
	return s.Page != nil && s.Page.State == Stored && (s.Final.State == Stored || s.Final.State == Unchanged)
}

// Gone reports whether the URL once had a stored page and its final outcome is Failed
// or Skipped.
func (s *Standing) Gone() bool {
	return s.Page != nil && (s.Final.State == Failed || s.Final.State == Skipped)
}

// Standings yields, for every URL that has an outcome in any of the books, the outcomes that
// determine its state (see Standing). The URLs come in the order of their hashes: by place, then by
// identity. A Standing is valid until the next is yielded. For each book, memory holds the bytes of
// one request and one block. An error ends the sequence.
func Standings(ctx context.Context, books []*Reader) iter.Seq2[Standing, error] {
	var sequences []iter.Seq2[located, error]
	for i, b := range books {
		sequences = append(sequences, locate(i, b.Outcomes(ctx, layout.Range{})))
	}
	sameURL := func(o, p located) int { return compareURL(o.Place, o.URL, p.Place, p.URL) }
	return func(yield func(Standing, error) bool) {
		var in []int
		for ofURL, err := range mergeGroups(sequences, sameURL) {
			s := Standing{Books: in[:0]}
			for i := range ofURL {
				s.Add(&ofURL[i].Outcome)
			}
			if last := highest(s.Page, s.gone); last != nil {
				for i := range ofURL {
					if o := &ofURL[i]; o.Outcome.Version == last.Version && o.Compare(*last) == 0 {
						s.Books = append(s.Books, o.book)
					}
				}
			}
			in = s.Books
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// located is an outcome together with its book, as the index of the book in the argument of Standings.
type located struct {
	Outcome
	book int
}

// locate yields the outcomes of one book, each with the given index of the book.
func locate(index int, outcomes iter.Seq2[Outcome, error]) iter.Seq2[located, error] {
	return func(yield func(located, error) bool) {
		for o, err := range outcomes {
			if !yield(located{o, index}, err) {
				return
			}
		}
	}
}
