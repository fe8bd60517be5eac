package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// countExactly is up to how many matches of a query are counted before those
// that cannot be among the best are passed over.
const countExactly = 1000

// slack allows for sums that are rounded in another order.
const slack = 1 + 1e-9

// scan finds the best matches of a query, one segment after another.
//
// It goes through windows of documents in which the bound of every word's
// score holds (block-max MaxScore: Turtle and Flood, Query Evaluation, 1995;
// Ding and Suel, Faster Top-k Document Retrieval Using Block-Max Indexes,
// 2011). Because a document that holds all words counts twice, the others
// soon cannot compete: then the words must all occur, and the rarest leads.
type scan struct {
	totals *totals
	top    topMatches
	limit  int // matches to count before any is passed over
	count  int
	passed bool                         // some may not have been counted
	seen   func(part int32, doc uint32) // called with every match that is counted; nil for nobody
	stop   func() error                 // asked now and then
	extra  float64                      // no document scores more by phrases
	plan   *plan

	// Of the segment:
	part     int32
	accept   accept
	words    []cursor // in the query's order; one that does not occur walks nothing
	required []bool
	not      []cursor
	factor   float64 // allWords, if a document can hold all words

	// Of the window:
	sum    float64 // of the words' bounds
	need   []bool  // without which words nothing can compete
	order  []int   // words, by their bounds
	rest   int     // documents that hold only order[:rest] cannot compete
	scores []float64
}

func (s *scan) run() error {
	s.need = slices.Grow(s.need[:0], len(s.words))[:len(s.words)]
	s.scores = slices.Grow(s.scores[:0], len(s.words))[:len(s.words)]
	s.order = s.order[:0]
	for i := range s.words {
		s.order = append(s.order, i)
	}
	for at, windows := s.start(0), 0; at != postings.NoMore; windows++ {
		if windows%64 == 0 {
			if err := s.stop(); err != nil {
				return err
			}
		}
		end := s.window(at)
		switch {
		case s.sum == 0:
		case s.count >= s.limit && !s.competes(s.factor*s.sum+s.extra):
			s.passed = true
		default:
			s.walk(at, end)
		}
		if end >= postings.NoMore-1 {
			break
		}
		at = s.start(end + 1)
	}
	return s.err()
}

// competes reports whether a match that scores at most so much can be kept.
func (s *scan) competes(bound float64) bool { return bound*slack >= s.top.least() }

// window computes the bounds from a document on, and returns the last one for
// which they hold.
func (s *scan) window(at uint32) (end uint32) {
	end = postings.NoMore
	s.sum, s.rest = 0, 0
	for i := range s.words {
		w := &s.words[i]
		last := w.window(at, s.totals)
		end = min(end, last)
		s.sum += w.bound
		s.need[i] = s.required[i]
		if s.required[i] && w.bound == 0 {
			s.sum = 0
			return last
		}
	}
	if s.count < s.limit {
		return end
	}
	slices.SortFunc(s.order, func(a, b int) int { return cmp.Compare(s.words[a].bound, s.words[b].bound) })
	without, all := s.extra, false
	for _, i := range s.order {
		bound := s.words[i].bound
		if !s.need[i] && !s.competes(s.sum-bound+s.extra) {
			s.need[i] = true
			s.passed = s.passed || s.sum > bound
		}
		all = all || s.need[i]
		if without += bound; !s.competes(without) {
			s.rest++
		}
	}
	s.passed = s.passed || !all && s.rest > 0 && s.words[s.order[s.rest-1]].bound > 0
	return end
}

// start returns the first document from doc on that words which nothing can
// compete without leave possible, wherever it is.
func (s *scan) start(doc uint32) uint32 {
	most := 0.0
	for i := range s.words {
		most += s.words[i].most
	}
	for i := range s.words {
		w := &s.words[i]
		if !s.required[i] {
			if s.count < s.limit || s.competes(most-w.most+s.extra) {
				continue
			}
			s.passed = s.passed || most > w.most
		}
		doc = max(doc, w.advance(doc))
	}
	return s.accept.next(doc)
}

// deadline is a context, and those that end earlier: then what was found is
// told.
type deadline struct {
	context.Context
	read context.Context // what is not read by then is left out
	scan context.Context // what was read is searched until then
}

// withDeadline returns the deadline of a query: its own, or so long before
// ctx's that a quarter of the time remains to read the hits. Of the time until
// then three quarters are for reading.
func withDeadline(ctx context.Context, at time.Time) (deadline, context.CancelFunc) {
	if end, ends := ctx.Deadline(); ends {
		if earlier := end.Add(-time.Until(end) / 4); at.IsZero() || earlier.Before(at) {
			at = earlier
		}
	}
	if at.IsZero() {
		return deadline{ctx, ctx, ctx}, func() {}
	}
	scanning, cancelScan := context.WithDeadline(ctx, at)
	read, cancelRead := context.WithDeadline(scanning, at.Add(-time.Until(at)/4))
	return deadline{ctx, read, scanning}, func() { cancelRead(); cancelScan() }
}

// withoutDeadline returns ctx as a deadline of itself.
func withoutDeadline(ctx context.Context) deadline { return deadline{ctx, ctx, ctx} }

// passed reports whether the time of one of d's contexts is up, and the caller
// still waits.
func (d deadline) passed(of context.Context) bool { return of.Err() != nil && d.Err() == nil }

// Unreadable is the error of a search that could not read one of its segments.
type Unreadable struct {
	Segment string // its key
	Err     error
}

// Error implements error.
func (u *Unreadable) Error() string {
	return fmt.Sprintf("cannot read segment %s: %v", u.Segment, u.Err)
}

// Unwrap returns the cause.
func (u *Unreadable) Unwrap() error { return u.Err }
