package search

import "sync"

// scans keeps the memory of scans.
var scans = sync.Pool{New: func() any { return new(scan) }}

// begin prepares a scan of all segments.
func (s *scan) begin(of *search) {
	s.totals, s.plan = of.ix.totals, of.plan
	s.count, s.passed, s.seen, s.extra = 0, false, nil, 0
	s.required = s.required[:0]
	for _, w := range of.plan.words {
		s.required = append(s.required, w.required)
	}
	for _, ph := range of.plan.must {
		s.extra += ph.weight * s.totals.most() * slack
	}
}

// open prepares a scan of one segment. It returns false if nothing can match
// there.
func (s *scan) open(of *search, part int) bool {
	s.part, s.accept, s.factor = int32(part), of.accept[part], 1
	if len(of.plan.words) > 1 {
		s.factor = allWords
	}
	s.words = cursors(s.words, of, part, of.plan.words, s.totals)
	s.not = cursors(s.not, of, part, of.plan.not, s.totals)
	occurs := false
	for i := range s.words {
		if len(s.words[i].lists) > 0 {
			occurs = true
		} else if s.factor = 1; s.required[i] {
			return false
		}
	}
	return occurs
}

// cursors returns a cursor for each word, and uses the memory of old.
func cursors(old []cursor, of *search, part int, words []*word, t *totals) []cursor {
	for len(old) < len(words) {
		old = append(old, cursor{})
	}
	for i, w := range words {
		old[i].reset()
		for _, v := range w.variants {
			if entry := of.terms[part][v.number]; entry != nil {
				old[i].add(entry.List, w.weight*v.worth, t)
			}
		}
	}
	return old[:len(words)]
}

// err returns the damage that the walks met.
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
	return nil
}
