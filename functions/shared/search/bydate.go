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
)

// dayWorth is added to the score of a match for each day of its page's own date, while matches are sorted by date.
// It is greater than any score of a query, so the newer of two pages comes first, whatever words they have. The
// scores that hits show are without it (see scoreOf).
const dayWorth = 1e6

// byDate reports whether the matches are sorted by the dates that the pages state for themselves. This is so if
// the query asks for it, and also if the query has filters or excluded words but no words to find, because then
// no page has a score. Images are never sorted by date.
func (s *search) byDate() bool { return (s.query.ByDate || s.plan.lists) && !s.plan.images }

// pass goes through some documents of the current segment, and passes each that may match to s.match.
func (s *scan) pass(of stripe) error {
	if !s.plan.lists {
		return s.run(of.from, of.to)
	}
	s.order, s.scores, s.named, s.sum = s.order[:0], s.scores[:0], s.named[:0], 0 // no words
	for doc, n := s.accept.next(of.from), 0; doc < of.to; doc, n = s.accept.next(doc+1), n+1 {
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

// leaveOutTextless removes documents without text, such as images, from those that a query without words lists,
// and adds a note with their number. A query with words does not find such documents, either.
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
	s.noteTextless(n)
}

// noteTextless adds a note about the number of files without text that the list leaves out, if there are any.
func (s *search) noteTextless(n int) {
	if s.leftTextless = n; n > 0 {
		s.plan.notes = append(s.plan.notes, fmt.Sprintf("Files without text, such as images, are not listed: %d.", n))
	}
}

// orderAll sorts all matches by score, which includes the worth of the date, and matches with the same score by
// identity (hash of the URL). It reads the identities of all segments with matches: without them, matches of
// the same day could change places between two pages of hits.
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

// scoreOf returns the score of a match without what was added for its date (see dayWorth). If something was added,
// the result may be up to 1e-4 too high.
func (s *search) scoreOf(f match) float64 {
	if !s.byDate() || f.newness == 0 {
		return f.score
	}
	return math.Ceil((f.score-f.newness)*1e4) / 1e4
}

// setDate gives a hit the date that its page states. It does nothing if the hit has a date already (from the
// stored document), or if the date is not known.
func (s *search) setDate(hit *Hit, f match) {
	if day := s.dateOf(f); hit.Date.IsZero() && day > 0 {
		hit.Date = dayOf(day)
	}
}

// isNewer reports whether the date that h's page states is of a later day than that of other. A hit without a
// date counts as older than all days.
func (h *Hit) isNewer(other *Hit) bool {
	return h.Date.Truncate(24 * time.Hour).After(other.Date.Truncate(24 * time.Hour))
}
