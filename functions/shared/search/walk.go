package search

import (
	"math"
	"math/bits"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

func (s *scan) walk(at, end uint32) {
	lead := -1
	for i := range s.words {
		if s.need[i] && (lead < 0 || s.words[i].common < s.words[lead].common) {
			lead = i
		}
	}
	if lead >= 0 {
		s.walkAll(lead, at, end)
	} else {
		s.walkAny(at, end)
	}
}

// walkAll calls match for every document in the given range (end included) that has all words marked
// in s.need. The parameter lead is the index of the rarest of these words. walkAll goes through the
// documents of this word, and looks for them in the posting lists of the others. Once enough matches are counted, it
// leaves out documents that cannot be among the best by their score for this word.
func (s *scan) walkAll(lead int, at, end uint32) {
	first := &s.words[lead]
search:
	for doc := first.advance(at); doc <= end && doc != postings.NoMore; {
		if next := s.accept.next(doc); next != doc {
			doc = first.advance(next)
			continue
		}
		if s.count >= s.limit && !s.mayCompete(first) {
			s.passed = true
			first.next()
			doc = first.doc
			continue
		}
		for i := range s.words {
			if i == lead || !s.need[i] {
				continue
			}
			if next := s.words[i].advance(doc); next != doc {
				doc = first.advance(next)
				continue search
			}
		}
		s.match(doc)
		first.next()
		doc = first.doc
	}
}

// mayCompete reports whether the current document of a word could be among the best matches, by its score for this
// word and the upper bounds of the other words' scores.
func (s *scan) mayCompete(w *cursor) bool {
	score, named := w.score(s.statistics)
	return s.competes(s.factor*(s.sum-w.bound+score+named) + s.extra)
}

// walkAny calls match for every document in the given range (end included) that has at least one of
// the words s.order[s.rest:]. Other documents cannot be among the best (see scan.rest).
func (s *scan) walkAny(at, end uint32) {
	lead := s.order[s.rest:]
	for {
		doc := uint32(postings.NoMore)
		for _, i := range lead {
			doc = min(doc, s.words[i].advance(at))
		}
		if doc > end || doc == postings.NoMore {
			return
		}
		if at = s.accept.next(doc); at != doc {
			if at > end {
				return
			}
			continue
		}
		s.match(doc)
		for _, i := range lead {
			if s.words[i].doc == doc {
				s.words[i].next()
			}
		}
	}
}

// match counts a document as a match, unless it has an excluded word or fails a condition. If its score may be
// high enough, match offers the document to s.top. The caller must have checked that the document has all words
// marked in s.need.
func (s *scan) match(doc uint32) {
	for i := range s.not {
		if s.not[i].advance(doc) == doc {
			return
		}
	}
	if len(s.plan.demands) > 0 && s.meets(doc, nil) == no {
		return
	}
	s.count++
	if s.seen != nil {
		s.seen(s.part, doc)
	}
	least := s.top.least()
	bound, factor := s.sum, s.factor
	for i := range s.words { // first those that the document is known to lack: this takes no decoding
		if w := &s.words[i]; w.doc > doc {
			bound -= w.bound
			if !s.optional[i] {
				factor = 1
			}
		}
	}
	for n := len(s.order) - 1; n >= 0; n-- {
		if (factor*bound+s.extra)*slack < least {
			return
		}
		i := s.order[n]
		w := &s.words[i]
		s.scores[i], s.named[i] = 0, 0
		if w.doc > doc {
			continue
		}
		if w.advance(doc) == doc {
			s.scores[i], s.named[i] = w.score(s.statistics)
		} else if !s.optional[i] {
			factor = 1
		}
		if s.joined[i] {
			s.named[i] = 0
		}
		bound += s.scores[i] + s.named[i] - w.bound
	}
	words, named := 0.0, 0.0
	for i, score := range s.scores {
		words += score
		named += s.named[i]
	}
	words = words*factor + s.plan.naming(named)
	f := match{score: words, words: words, part: s.part, doc: doc}
	for _, ph := range s.plan.must {
		f.score += s.atMost(ph, doc)
	}
	for _, ph := range s.plan.grouped {
		if ph.weight > 0 {
			f.score += s.atMost(ph, doc)
		}
	}
	if s.dated {
		f.newness = dayWorth * float64(s.dates.of(doc))
		f.score += f.newness
	}
	if f.score < least {
		return
	}
	f.near = s.mostNear(doc)
	if !s.plan.images {
		f.titled, f.defined = s.titled(doc), s.defined(doc)
	}
	s.top.offer(f)
}

// boundedPairs is the greatest number of phrases in plan.near for which the scan computes an upper bound of
// each document's bonus for words near each other. With more phrases, these bounds would take longer than
// looking for the phrases in the texts. Then the scan uses the same bound for all documents instead: the
// greatest bonus that any document can have; addNear computes a bound for each document that it examines.
const boundedPairs = 7

// mostNear returns an upper bound of the bonus that a document can get for words near each other.
func (s *scan) mostNear(doc uint32) (sum float64) {
	bounded := len(s.plan.near) <= boundedPairs
	for _, ph := range s.plan.near {
		switch {
		case ph.shares != nil && bounded:
			sum += s.mostInPassage(ph, doc)
		case ph.shares != nil:
			sum += ph.weight * slack
		case bounded:
			sum += s.atMost(ph, doc)
		default:
			sum += ph.weight * s.plan.weights.mostScore() * slack
		}
	}
	return sum
}

// atMost returns an upper bound of a phrase's score in a document. A phrase without slop occurs in a
// field at most as often as its rarest word. A phrase with slop occurs at most as often as its first
// word, since each position of this word counts at most once (see adjacent).
func (s *scan) atMost(ph *queryPhrase, doc uint32) float64 {
	var o occurrence
	for i, w := range ph.words {
		var sum [postings.Fields]uint32
		s.words[w.place].occurrences(doc, &sum, &o.length)
		for f, n := range sum {
			if i == 0 || n == 0 || n < o.freq[f] && ph.slop == 0 {
				o.freq[f] = n
			}
		}
	}
	return s.statistics.bm25f(ph.weight, &o.freq, &o.length) * slack
}

// accept says which documents of a segment may match.
type accept struct {
	dead    *roaring.Bitmap // deleted or hidden documents; nil if there are none, or if accept.allowed leaves them out
	allowed bitset          // live documents that pass the filters; nil without filters
	// If stride is 0 or 1, all documents may match. Else only the documents of a sample may match. For the
	// sample, the documents are divided into ranges of equal length (see stretch). If stride is 3, the
	// sample has every third range.
	stride uint32
}

// stretch is the number of consecutive documents that a sample takes or leaves out together (see
// accept.stride).
const stretch = 512

// next returns the first document from doc on that may match.
func (a *accept) next(doc uint32) uint32 {
	if a.dead == nil && a.allowed == nil && a.stride <= 1 {
		return doc
	}
	return a.find(doc)
}

// takes reports whether the document may match: it is not dead, passes the filters and, if only a sample of the
// documents is searched (see accept.stride), is in the sample.
func (a *accept) takes(doc uint32) bool { return a.next(doc) == doc }

func (a *accept) find(doc uint32) uint32 {
	for {
		if a.stride > 1 {
			if n := doc / stretch; n%a.stride != 0 {
				doc = (n + a.stride - n%a.stride) * stretch
			}
		}
		next := a.first(doc)
		if next == doc || next == postings.NoMore || a.stride <= 1 {
			return next
		}
		doc = next
	}
}

// first returns the first document from doc on that is not deleted or hidden and passes the filters. It
// ignores accept.stride: the document need not be in the sample.
func (a *accept) first(doc uint32) uint32 {
	if a.allowed == nil {
		if a.dead == nil {
			return doc
		}
		for doc != postings.NoMore && a.dead.Contains(doc) {
			doc++
		}
		return doc
	}
	return a.allowed.next(doc)
}

// keep makes sure that accept.allowed is set: if it is nil, keep sets it to all documents of the segment except the
// dead ones. The parameter documents is the number of documents of the segment.
func (a *accept) keep(documents int) {
	if a.allowed != nil {
		return
	}
	a.allowed = newBits(documents)
	if a.dead != nil {
		for i := a.dead.Iterator(); i.HasNext(); {
			a.allowed.clear(i.Next())
		}
		a.dead = nil
	}
}

// bitset has one bit for each document of a segment.
type bitset []uint64

// newBits returns a bitset with the bits of all documents set.
func newBits(documents int) bitset {
	b := make(bitset, (documents+63)/64)
	for i := range b {
		b[i] = math.MaxUint64
	}
	if documents%64 > 0 {
		b[len(b)-1] = 1<<(documents%64) - 1
	}
	return b
}

func (b bitset) clear(doc uint32) {
	if n := int(doc / 64); n < len(b) {
		b[n] &^= 1 << (doc % 64)
	}
}

// next returns the first document whose bit is set, beginning the search with the document doc. If
// there is none, it returns postings.NoMore.
func (b bitset) next(doc uint32) uint32 {
	n := int(doc / 64)
	if n >= len(b) {
		return postings.NoMore
	}
	word := b[n] &^ (1<<(doc%64) - 1)
	for word == 0 {
		if n++; n == len(b) {
			return postings.NoMore
		}
		word = b[n]
	}
	return uint32(n*64 + bits.TrailingZeros64(word))
}
