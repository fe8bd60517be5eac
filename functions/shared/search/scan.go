package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// countExactly is the number of matches that a scan always counts. Once it has counted so many, it may
// skip documents that cannot be among the best matches, and then the count is too low.
const countExactly = 1000

// slack allows for rounding. If the same scores are added in two orders, the two sums may be rounded
// differently, but their ratio is at most slack. Upper bounds are multiplied by slack, so that no score
// exceeds its bound.
const slack = 1 + 1e-9

// scan finds the best matches of a query, one stripe of a segment after another. Several scans may work on different
// stripes at the same time (see search.scanParts).
//
// It divides the documents of a segment into windows. For each word, it computes an upper bound of the
// word's scores in the window. It skips documents that by these bounds cannot be among the best matches
// (block-max MaxScore: Turtle and Flood, Query Evaluation, 1995; Ding and Suel, Faster Top-k Document
// Retrieval Using Block-Max Indexes, 2011).
//
// The score of a document with all words is multiplied by Weights.AllWords. So after a while no document
// that lacks a word can be among the best matches. From then on the scan goes through the posting list
// of the rarest word, and visits only documents with all words.
type scan struct {
	statistics *statistics
	top        topMatches
	limit      int // the scan counts all matches if there are at most so many of them
	count      int
	// whether count is too low, because the scan skipped documents that may match but cannot be
	// among the best
	passed bool
	seen   func(part int32, doc uint32) // called with every counted match, if not nil
	stop   func() error                 // called before every 64th window of documents; an error ends the scan
	extra  float64                      // upper bound of the sum of the scores of all required phrases
	plan   *plan
	dated  bool // whether matches are sorted by date (see search.byDate)

	// State of the current segment. part is the segment's index among the parts of the index.
	part     int32
	accept   accept
	dates    ownDates // dates of the documents; nil if they are not needed
	words    []cursor // cursors of the words, in the order of plan.words; without lists if the segment lacks the word
	required []bool   // for each word, whether a document must hold it
	joined   []bool   // for each word, whether it is a joined word, such as email for e-mail
	optional []bool   // for each word, whether a document may have all words of the query without it
	written  int      // number of words that are not optional (see plan.written)
	not      []cursor
	tested   []cursor // cursors of the words in plan.tested
	factor   float64  // factor for documents with all words: Weights.AllWords, or 1 if the segment lacks one of the words

	ascending []int   // indexes of the words, by ascending greatest score of their text lists (see cursor.mostOf)
	weakBelow float64 // lowest score of a further match for which weaken has marked words

	// State of the current window of documents.
	sum   float64 // sum of the upper bounds of the words' scores
	need  []bool  // for each word, whether a document must have it to be among the best
	order []int   // indexes of the words, by ascending bound of their scores in the window
	// order[:rest] are the words with the lowest bounds: a document that has none but these words of the
	// query cannot be among the best
	rest   int
	scores []float64
	worths []float64 // for each word, how far the current document defines it as a name (see defined)
	named  []float64 // weight of each word as a name of the current document's site
}

// run passes the documents that may match and be among the best to s.match: those with the numbers from to to-1 of the
// current segment.
func (s *scan) run(from, to uint32) error {
	s.need = slices.Grow(s.need[:0], len(s.words))[:len(s.words)]
	s.scores = slices.Grow(s.scores[:0], len(s.words))[:len(s.words)]
	s.named = slices.Grow(s.named[:0], len(s.words))[:len(s.words)]
	s.order, s.ascending, s.weakBelow = s.order[:0], s.ascending[:0], -1
	for i := range s.words {
		s.order, s.ascending = append(s.order, i), append(s.ascending, i)
	}
	slices.SortFunc(s.ascending, func(a, b int) int { return cmp.Compare(s.words[a].mostOf[ofText], s.words[b].mostOf[ofText]) })
	for at, windows := s.start(from), 0; at < to; windows++ {
		if windows%64 == 0 {
			if err := s.stop(); err != nil {
				return err
			}
		}
		end := min(s.window(at), to-1)
		switch {
		case s.sum == 0:
		case s.count >= s.limit && !s.competes(s.factor*s.sum+s.extra):
			s.passed = true
		default:
			s.walk(at, end)
		}
		at = s.start(end + 1)
	}
	return s.err()
}

// competes reports whether a match whose score is at most bound could be among the best.
func (s *scan) competes(bound float64) bool { return bound*slack >= s.top.least() }

// weaken marks the words that are weak by now: all weak words together do not suffice for a further match. The bound of a
// weak word is the same in all windows (see cursor.window), so that its many small blocks do not divide the documents into
// as many windows. Most sentences have such words; in short queries the closer bounds of the blocks save more.
func (s *scan) weaken() {
	least := s.top.least()
	if !s.plan.long || s.count < s.limit || least <= s.weakBelow {
		return
	}
	s.weakBelow = least
	sum, written := 0.0, 0
	for _, i := range s.ascending {
		sum += s.words[i].mostOf[ofText]
		if !s.optional[i] {
			written++
		}
		if s.competes(s.with(written)*sum + s.extra) {
			return
		}
		s.words[i].weak = !s.required[i]
	}
}

// without returns the greatest factor that a document can get if it lacks a word: 1, or scan.factor if the word is
// optional. For example, for the query e-mail the words are e, mail and the joined word email, but a document gets
// scan.factor also if it has e and mail without email.
func (s *scan) without(word int) float64 {
	if s.optional[word] {
		return s.factor
	}
	return 1
}

// with returns the greatest factor that a document can get if it has at most so many words that are not optional.
func (s *scan) with(written int) float64 {
	if written == s.written {
		return s.factor
	}
	return 1
}

// window prepares the window of documents that begins with a given document, and returns the last
// document of the window. It computes upper bounds of the words' scores in the window, and from
// these bounds finds the words that a document must have to be among the best matches.
func (s *scan) window(at uint32) (end uint32) {
	end = postings.NoMore
	s.sum, s.rest = 0, 0
	s.weaken()
	for i := range s.words {
		w := &s.words[i]
		last := w.window(at, s.statistics)
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
	upTo, written, all := 0.0, 0, false // sum of the bounds, and number of words that are not optional, up to word i
	for _, i := range s.order {
		bound := s.words[i].bound
		if !s.need[i] && !s.competes(s.without(i)*(s.sum-bound)+s.extra) {
			s.need[i] = true
			s.passed = s.passed || s.sum > bound
		}
		all = all || s.need[i]
		upTo += bound
		if !s.optional[i] {
			written++
		}
		if !s.competes(s.with(written)*upTo + s.extra) {
			s.rest++
		}
	}
	s.passed = s.passed || !all && s.rest > 0 && s.words[s.order[s.rest-1]].bound > 0
	return end
}

// start returns the first document from doc on that may match and be among the best matches. It
// skips documents that lack a required word, or a word that every document among the best must
// have.
func (s *scan) start(doc uint32) uint32 {
	most := 0.0
	for i := range s.words {
		most += s.words[i].most
	}
	for i := range s.words {
		w := &s.words[i]
		if !s.required[i] {
			if s.count < s.limit || s.competes(s.without(i)*(most-w.most)+s.extra) {
				continue
			}
			s.passed = s.passed || most > w.most
		}
		doc = max(doc, w.advance(doc))
	}
	return s.accept.next(doc)
}

// deadline is the caller's context, with two contexts that end before it. When one of these ends,
// the search does not fail: it returns the hits that it has found so far.
type deadline struct {
	context.Context
	read context.Context // when this context ends, segments that are not read yet are left out
	scan context.Context // when this context ends, scanning posting lists stops
}

// withDeadline returns the deadline of a query. It has two contexts that end before ctx:
//
//	scan   ends at the given time, or when 3/4 of the time until ctx's deadline have passed,
//	       whichever is earlier; the last quarter is left for reading the hits
//	read   ends when 3/4 of the time until the end of scan have passed
//
// If the given time is zero and ctx has no deadline, both contexts are ctx itself.
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

// withoutDeadline returns a deadline whose contexts are all ctx itself, so the search may take until
// ctx ends.
func withoutDeadline(ctx context.Context) deadline { return deadline{ctx, ctx, ctx} }

// passed reports whether one of the deadline's two early contexts, d.read or d.scan, has ended and
// the caller's context has not.
func (d deadline) passed(of context.Context) bool { return of.Err() != nil && d.Err() == nil }

// Unreadable is the error of a search that could not read one of its segments, or the anchors
// of one.
type Unreadable struct {
	Segment string // key of the segment that could not be read
	Err     error
}

// Error implements error.
func (u *Unreadable) Error() string {
	return fmt.Sprintf("cannot read segment %s: %v", u.Segment, u.Err)
}

// Unwrap returns the error of the read that failed.
func (u *Unreadable) Unwrap() error { return u.Err }
