package search

import "github.com/bucketsearch/bucketsearch/layout/segment/postings"

// walk offers the matches from at to end.
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

// walkAll offers the documents that hold all needed words.
func (s *scan) walkAll(lead int, at, end uint32) {
	first := &s.words[lead]
search:
	for doc := first.advance(at); doc <= end && doc != postings.NoMore; {
		if next := s.accept.next(doc); next != doc {
			doc = first.advance(next)
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

// walkAny offers the documents that hold any word but those of which they
// would need another.
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

// match counts a document that holds what it needs, and offers it if it
// competes.
func (s *scan) match(doc uint32) {
	for i := range s.not {
		if s.not[i].advance(doc) == doc {
			return
		}
	}
	s.count++
	if s.seen != nil {
		s.seen(s.part, doc)
	}
	least := s.top.least()
	bound, factor := s.sum, s.factor
	for n := len(s.order) - 1; n >= 0; n-- {
		if (factor*bound+s.extra)*slack < least {
			return
		}
		w := &s.words[s.order[n]]
		score := 0.0
		if w.doc == doc || w.doc < doc && w.advance(doc) == doc {
			score = w.score(s.totals)
		} else {
			factor = 1
		}
		s.scores[s.order[n]] = score
		bound += score - w.bound
	}
	words := 0.0
	for _, score := range s.scores {
		words += score
	}
	words *= factor
	f := found{score: words, words: words, part: s.part, doc: doc}
	for _, ph := range s.plan.must {
		f.score += s.atMost(ph, doc)
	}
	if f.score < least {
		return
	}
	if s.plan.near != nil {
		f.near = s.atMost(s.plan.near, doc)
	}
	s.top.offer(f)
}

// atMost returns what a phrase can add to the score of the document at which
// its words stand: as if it occurred as often as the rarest of them.
func (s *scan) atMost(ph *phrase, doc uint32) float64 {
	var o occurrence
	for i, w := range ph.words {
		var sum [postings.Fields]uint32
		s.words[w.place].occurrences(doc, &sum, &o.length)
		for f, n := range sum {
			if i == 0 || n < o.freq[f] {
				o.freq[f] = n
			}
		}
	}
	return s.totals.bm25(ph.weight, &o.freq, &o.length) * slack
}
