package segment

import (
	"github.com/blugelabs/bluge/search"
	api "github.com/blugelabs/bluge_segment_api"
)

// phraseSearcher finds the documents in which terms follow each other in a
// field, in time linear in the terms' occurrences (bluge's own is quadratic in
// a document). It scores how often they do.
type phraseSearcher struct {
	reader reader
	terms  []api.PostingsIterator
	at     []api.Posting // where each term stands
	starts []int         // of the phrase in the document
	scorer bm25
}

var _ search.Searcher = (*phraseSearcher)(nil)

func newPhraseSearcher(r reader, terms []string, field string, scorer bm25) (*phraseSearcher, error) {
	s := &phraseSearcher{reader: r, at: make([]api.Posting, len(terms)), scorer: scorer}
	for _, term := range terms {
		postings, err := r.PostingsIterator([]byte(term), field, true, true, true)
		if err != nil {
			return nil, err
		}
		s.terms = append(s.terms, postings)
	}
	return s, nil
}

// Next implements search.Searcher.
func (s *phraseSearcher) Next(ctx *search.Context) (*search.DocumentMatch, error) {
	number := uint64(0)
	if s.at[0] != nil {
		number = s.at[0].Number() + 1
	}
	return s.Advance(ctx, number)
}

// Advance implements search.Searcher.
func (s *phraseSearcher) Advance(ctx *search.Context, number uint64) (*search.DocumentMatch, error) {
	for {
		found, err := s.align(number)
		if !found || err != nil {
			return nil, err
		}
		if frequency := s.occurrences(); frequency > 0 {
			match := ctx.DocumentMatchPool.Get()
			match.SetReader(s.reader)
			match.Number = s.at[0].Number()
			match.Score = s.scorer.Score(frequency, s.at[0].Norm())
			return match, nil
		}
		number = s.at[0].Number() + 1
	}
}

// align moves all terms to the first document at or after number that holds
// them all.
func (s *phraseSearcher) align(number uint64) (found bool, err error) {
	for i := 0; i < len(s.terms); {
		if s.at[i] == nil || s.at[i].Number() < number {
			if s.at[i], err = s.terms[i].Advance(number); s.at[i] == nil || err != nil {
				return false, err
			}
		}
		if s.at[i].Number() > number {
			number, i = s.at[i].Number(), 0
			continue
		}
		i++
	}
	return true, nil
}

// occurrences counts the phrase in the document where all terms stand.
// Positions are in order.
func (s *phraseSearcher) occurrences() int {
	s.starts = s.starts[:0]
	for _, at := range s.at[0].Locations() {
		s.starts = append(s.starts, at.Pos())
	}
	for i, posting := range s.at[1:] {
		positions := posting.Locations()
		kept := s.starts[:0]
		for _, start := range s.starts {
			for len(positions) > 0 && positions[0].Pos() < start+i+1 {
				positions = positions[1:]
			}
			if len(positions) > 0 && positions[0].Pos() == start+i+1 {
				kept = append(kept, start)
			}
		}
		s.starts = kept
	}
	return len(s.starts)
}

// Count implements search.Searcher: more documents than that do not match.
func (s *phraseSearcher) Count() uint64 {
	least := s.terms[0].Count()
	for _, term := range s.terms[1:] {
		least = min(least, term.Count())
	}
	return least
}

func (s *phraseSearcher) Close() error               { return nil }
func (s *phraseSearcher) Min() int                   { return 0 }
func (s *phraseSearcher) Size() int                  { return 0 }
func (s *phraseSearcher) DocumentMatchPoolSize() int { return 1 }
