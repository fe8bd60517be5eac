package search

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// verdict says whether a condition holds for a document.
type verdict int

const (
	no      verdict = iota
	perhaps         // the document has the words of a phrase, but nothing says where
	yes
)

// judge evaluates the condition for a document. has reports whether the document has a word in a field,
// and stands whether it has a phrase there.
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

// meets returns the verdict of the plan's conditions on a document. The cursors of the scan must not be
// behind it. found says how often the document has each phrase of plan.grouped; nil if that is not known.
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

// isIn reports whether the current posting of the list is one of words in a field. The addresses of pages
// that are not stored are in lists of anchors.
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
