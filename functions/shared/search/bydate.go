package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// dayWorth is what each day of a page's own date adds to its score while matches are sorted by date: more than
// any query can give, so that the newer of two pages comes first whatever its words are. It is taken away again
// from the scores of hits.
const dayWorth = 1e6

// byDate reports whether the matches are sorted by the pages' own dates: if the query asks for it, or if it has
// filters but no words, so that there are no scores. Images are sorted by score only.
func (s *search) byDate() bool { return (s.query.ByDate || s.plan.lists) && !s.plan.images }

// pass looks for matches in the documents of the current segment. The parameter documents is their number.
func (s *scan) pass(documents uint32) error {
	if !s.plan.lists {
		return s.run()
	}
	s.order, s.scores, s.named, s.sum = s.order[:0], s.scores[:0], s.named[:0], 0 // no words
	for doc, n := s.accept.next(0), 0; doc < documents && doc != postings.NoMore; doc, n = s.accept.next(doc+1), n+1 {
		if n%4096 == 0 {
			if err := s.stop(); err != nil {
				return err
			}
		}
		s.match(doc)
	}
	return s.err()
}

// readTextless sets s.textless[part] to the documents that have no title, no headings and no body, such as
// stored images.
func (s *search) readTextless(ctx context.Context, part int) error {
	from := s.parts[part].Segment
	if s.parts[part].Unvisited {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	fork := meter.NewFork(ctx)
	lengths := make([][]uint64, 3)
	for i, column := range []string{segment.TitleLengths, segment.HeadingsLengths, segment.BodyLengths} {
		group.Go(func() (err error) {
			lengths[i], err = from.Numbers(fork.Branch(), column)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for doc, n := range lengths[0] {
		if n+lengths[1][doc]+lengths[2][doc] == 0 {
			s.textless[part] = append(s.textless[part], uint32(doc))
		}
	}
	return nil
}

// leaveOutTextless removes documents without text from those that a list may have, with a note: no other query
// finds them.
func (s *search) leaveOutTextless() {
	n := 0
	for part, docs := range s.textless {
		s.accept[part].keep(s.parts[part].Segment.Documents())
		for _, doc := range docs {
			if s.accept[part].next(doc) == doc {
				s.accept[part].allowed.clear(doc)
				n++
			}
		}
	}
	if n > 0 {
		s.plan.notes = append(s.plan.notes, fmt.Sprintf("Files without text, such as images, are not listed: %d.", n))
	}
}

// orderAll sorts all matches by score, which has the date, then by identity. It reads the identities of all
// segments with matches, so that each page of hits follows the one before it, however many matches are of the
// same day or of none.
func (s *search) orderAll(ctx deadline, best []match) error {
	unread := s.unidentified([][]match{best})
	err := s.each(ctx, func(ctx context.Context, part int) error {
		if slices.Contains(unread, part) {
			return s.identify(ctx, part)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(best, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score), s.identity(a).Compare(s.identity(b)), cmp.Compare(a.part, b.part), cmp.Compare(a.doc, b.doc))
	})
	return nil
}

// scoreOf returns the score of a match without the worth of its date, by which it may be sorted. If the match has
// a date, the result is rounded up by less than 1e-4.
func (s *search) scoreOf(f match) float64 {
	if !s.byDate() || f.newness == 0 {
		return f.score
	}
	return math.Ceil((f.score-f.newness)*1e4) / 1e4
}

// setDate gives a hit the date of its page, if its document does not have it.
func (s *search) setDate(hit *Hit, f match) {
	if day := s.dateOf(f); hit.Date.IsZero() && day > 0 {
		hit.Date = dayOf(day)
	}
}

// isNewer reports whether a hit's own date is of a later day than that of another one.
func (h *Hit) isNewer(other *Hit) bool {
	return h.Date.Truncate(24 * time.Hour).After(other.Date.Truncate(24 * time.Hour))
}
