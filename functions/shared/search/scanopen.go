package search

import (
	"math"
	"slices"
	"sync"
)

// scans keeps values of the type scan, with the memory that they have allocated, for later
// searches.
var scans = sync.Pool{New: func() any { return new(scan) }}

// begin prepares a scan of all segments for a search.
func (s *scan) begin(of *search) {
	s.statistics, s.plan = of.statistics, of.plan
	s.count, s.passed, s.seen, s.extra = 0, false, nil, 0
	if s.dated = of.byDate(); s.dated {
		s.extra = dayWorth * (math.MaxUint16 + 1) // so no match is too low for the best
	}
	s.required, s.joined, s.optional, s.written = s.required[:0], s.joined[:0], s.optional[:0], of.plan.written()
	for _, w := range of.plan.words {
		s.required = append(s.required, w.required)
		s.joined = append(s.joined, w.joined)
		s.optional = append(s.optional, w.isOptional())
	}
	for _, ph := range slices.Concat(of.plan.must, of.plan.grouped) {
		s.extra += ph.weight * s.plan.weights.mostScore() * slack
	}
}

// open prepares a scan of one segment. It returns false if no document there can
// match.
func (s *scan) open(of *search, part int) bool {
	s.part, s.accept, s.dates, s.factor = int32(part), of.accept[part], of.dates[part], 1
	if s.written > 1 {
		s.factor = s.plan.weights.AllWords
	}
	s.words = cursors(s.words, of, part, of.plan.words, s.statistics, true)
	s.not = cursors(s.not, of, part, of.plan.not, s.statistics, false)
	s.tested = cursors(s.tested, of, part, of.plan.tested, s.statistics, true)
	occurs := false
	for i := range s.words {
		if len(s.words[i].lists) > 0 {
			occurs = true
		} else if s.required[i] {
			return false
		} else if !s.optional[i] {
			s.factor = 1
		}
	}
	return occurs || s.plan.lists && !of.parts[part].Unvisited
}

// cursors returns a cursor for each of the words, in a part of the index. The cursors reuse the
// memory of the cursors in the parameter old. If anchored is true, a document also has the words of
// its anchors (texts of links to it) and of its site's names. For excluded words, anchored must be
// false: otherwise a link with such a word would hide the page to which it leads.
func cursors(old []cursor, of *search, part int, words []*queryWord, t *statistics, anchored bool) []cursor {
	for len(old) < len(words) {
		old = append(old, cursor{})
	}
	for i, w := range words {
		old[i].reset()
		old[i].rules = of.rules[part]
		for _, v := range w.searched() {
			if entry := of.terms[part][v.number]; entry != nil {
				old[i].add(entry.List, w.weight*v.worth, v.rules, t)
			}
			if anchored && v.named >= 0 && of.terms[part][v.named] != nil {
				old[i].addNames(of.terms[part][v.named].List, w.weight*v.worth, t)
			}
			if anchored && v.defined >= 0 && of.terms[part][v.defined] != nil {
				old[i].addDefinitions(of.terms[part][v.defined].List, v.worth, t)
			}
			if entry := of.anchor(part, v.number); entry != nil && anchored {
				old[i].addAnchors(entry.List, w.weight*v.worth, v.rules, of.ix.anchors)
			}
		}
	}
	return old[:len(words)]
}

// err returns the first error of a cursor, which means that a posting list is damaged.
func (s *scan) err() error {
	for i := range s.words {
		if err := s.words[i].err(); err != nil {
			return err
		}
	}
	for i := range s.not {
		if err := s.not[i].err(); err != nil {
			return err
		}
	}
	for i := range s.tested {
		if err := s.tested[i].err(); err != nil {
			return err
		}
	}
	return nil
}
