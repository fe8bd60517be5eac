package document

import (
	"bytes"
	"unicode"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/layout"
)

// passage is a piece of a flow.
type passage struct {
	text  []byte
	parts []layout.Span // of the flow's text that it is made of, in order
}

// between returns text[from:to] without its navigation.
func (f *flow) between(from, to int) passage {
	var p passage
	for _, m := range f.navigation {
		if m.start < from || m.end > to {
			continue
		}
		p.parts = append(p.parts, layout.Span{Start: from, End: m.start})
		from = m.end
	}
	p.parts = append(p.parts, layout.Span{Start: from, End: to})
	p.text = make([]byte, 0, to-p.parts[0].Start)
	for _, r := range p.parts {
		p.text = append(p.text, f.text[r.Start:r.End]...)
	}
	return p
}

// sub returns text[from:to] of the passage.
func (p passage) sub(from, to int) passage {
	s := passage{text: p.text[from:to]}
	for _, r := range p.parts {
		length := r.End - r.Start
		if start, end := max(from, 0), min(to, length); start < end {
			s.parts = append(s.parts, layout.Span{Start: r.Start + start, End: r.Start + end})
		}
		from, to = from-length, to-length
	}
	return s
}

// trim returns the passage without white space around it, cut to n bytes.
func (p passage) trim(n int) passage {
	left := len(p.text) - len(bytes.TrimLeftFunc(p.text, unicode.IsSpace))
	return p.sub(left, left+len(cut(string(bytes.TrimSpace(p.text)), n)))
}

// find returns where ranges of the flow's text, which are in order, stand in
// the passage.
func (p passage) find(ranges []layout.Span) []layout.Span {
	var found []layout.Span
	at := 0
	for _, part := range p.parts {
		for len(ranges) > 0 && ranges[0].End <= part.Start {
			ranges = ranges[1:]
		}
		for _, r := range ranges {
			if r.Start >= part.End {
				break
			}
			found = append(found, layout.Span{Start: at + max(r.Start, part.Start) - part.Start, End: at + min(r.End, part.End) - part.Start})
		}
		at += part.End - part.Start
	}
	return found
}

// look gathers the outermost of elements that look unlike the text around
// them, in order.
type look struct {
	ranges []layout.Span
	inside int // such elements are open
}

func (l *look) close(start, end int) {
	if l.inside--; l.inside == 0 && start < end && len(l.ranges) < MaxRanges {
		l.ranges = append(l.ranges, layout.Span{Start: start, End: end})
	}
}

// look returns what gathers an element's look, or nil: bold, italic, marked or
// underlined, and larger type (WHATWG HTML, 15.3).
func (f *flow) look(name atom.Atom) *look {
	switch name {
	case atom.B, atom.Strong, atom.Em, atom.I, atom.Mark, atom.U, atom.Dfn:
		return &f.emphasis
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Big:
		return &f.large
	}
	return nil
}
