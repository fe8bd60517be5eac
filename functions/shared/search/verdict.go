package search

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// verdict says whether a condition holds for a document.
type verdict int

const (
	no      verdict = iota
	perhaps         // the document has all words of the phrase, but their positions are not known yet
	yes
)

// judge evaluates the condition for a document. The function has reports whether the document has a word in a
// field of the document. The function stands returns whether the document has a phrase in a field.
func (c *demand) judge(has func(*queryWord, where) bool, stands func(*queryPhrase, where) verdict) verdict {
	switch {
	case c.word != nil:
		if has(c.word, c.field) {
			return yes
		}
		return no
	case c.phrase != nil:
		return stands(c.phrase, c.field)
	case c.none != nil:
		return yes - c.none.judge(has, stands)
	case c.any != nil:
		best := no
		for _, of := range c.any {
			if best = max(best, of.judge(has, stands)); best == yes {
				break
			}
		}
		return best
	}
	worst := yes
	for _, of := range c.all {
		if worst = min(worst, of.judge(has, stands)); worst == no {
			break
		}
	}
	return worst
}

// meets returns whether a document fulfils all conditions of the plan (plan.demands). The cursors of the scan
// must be at this document or before it. The parameter found says how often the document has each phrase of
// plan.grouped. If found is nil, this is not known yet: then the result for a phrase is perhaps, not yes.
func (s *scan) meets(doc uint32, found []occurrence) verdict {
	has := func(w *queryWord, in where) bool { return s.has(w, in, doc) }
	stands := func(ph *queryPhrase, in where) verdict {
		if slices.ContainsFunc(ph.words, func(w *queryWord) bool { return !has(w, in) }) {
			return no
		}
		if found == nil {
			return perhaps
		}
		if found[slices.Index(s.plan.grouped, ph)].in(in) {
			return yes
		}
		return no
	}
	worst := yes
	for _, c := range s.plan.demands {
		if worst = min(worst, c.judge(has, stands)); worst == no {
			break
		}
	}
	return worst
}

// has reports whether a document has a word in a field.
func (s *scan) has(w *queryWord, in where, doc uint32) bool {
	if w.place < 0 {
		return false
	}
	of := s.words
	if w.tested {
		of = s.tested
	}
	c := &of[w.place]
	if c.advance(doc) != doc {
		return false
	}
	return in == anywhere || slices.ContainsFunc(c.lists, func(l listCursor) bool { return l.doc == doc && l.isIn(in) })
}

// isIn reports whether the word occurs in a field of the document at which the list stands. Words in the
// addresses of pages that are not stored are in the lists of anchors, so inAddress looks there, too.
func (l *listCursor) isIn(in where) bool {
	switch in {
	case inTexts:
		return l.kind == ofText
	case inAnchors:
		freq, _, _ := l.it.Payload()
		return l.kind == ofAnchors && freq[segment.Headings] > 0
	case inAddress:
		freq, _, _ := l.it.Payload()
		return l.kind != ofName && freq[segment.Address] > 0
	}
	freq, _, _ := l.it.Payload()
	return l.kind == ofText && freq[segment.Title] > 0
}

// in reports whether the phrase occurs in a field of the document.
func (o *occurrence) in(f where) bool {
	switch f {
	case inTitle:
		return o.freq[segment.Title] > 0
	case inAddress:
		return o.freq[segment.Address] > 0
	}
	return !o.none()
}
