package search

import (
	"hash/maphash"
	"sync"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/analysis"
)

// marker finds the words of a query in texts.
type marker struct {
	memory  *Memory
	words   map[string]meant // by term
	begins  beginnings       // of the words that they may be
	weights []float64        // of the query's words
	all     float64          // their sum

	language string         // of the text
	seen     *[1 << 10]seen // words of that language, by their hash
}

// seen says what a word of ASCII is: its only match is the whole of it, or it
// has none.
type seen struct {
	hash uint64
	word int // of the query, -1 for none
}

var (
	seed  = maphash.MakeSeed()
	seens = sync.Pool{New: func() any { return new([1 << 10]seen) }}
)

// meant is a word of the query.
type meant struct {
	word int
	half bool // of the pair only the first character
}

// span is a match in a text, in bytes.
type span struct{ start, end, word int }

func newMarker(p *plan, memory *Memory) *marker {
	m := &marker{memory: memory, words: make(map[string]meant, len(p.words))}
	for n, w := range p.words {
		m.weights = append(m.weights, w.weight)
		m.all += w.weight
		for _, v := range w.variants {
			m.words[v.term] = meant{n, w.begins}
			m.begins.add(v.term)
		}
	}
	return m
}

// hit returns a document with its matches marked by the analyzer of its
// language.
func (m *marker) hit(d *segment.Document) Hit {
	h := Hit{Document: *d}
	if m.seen == nil || d.Lang != m.language {
		m.forget()
		m.language, m.seen = d.Lang, seens.Get().(*[1 << 10]seen)
	}
	a := m.memory.lend(d.Lang)
	h.MarkedTitle, h.Snippet = m.whole(a, d.Title), m.snippet(a, d.Body)
	m.memory.giveBack(a)
	h.Body = ""
	return h
}

// signSize is how far behind a lone letter lies what makes a name of it: C++.
const signSize = 2 + utf8.UTFMax

// forget gives back the memory of words.
func (m *marker) forget() {
	if m.seen != nil {
		clear(m.seen[:])
		seens.Put(m.seen)
		m.seen = nil
	}
}

// each calls yield with every match in a text, until it returns false. It
// analyses only words that begin as one of the query does, and each of these
// about once.
func (m *marker) each(a *analyzer, text string, yield func(span) bool) {
	for i := 0; i < len(text); {
		if !wordBytes[text[i]] {
			i++
			continue
		}
		start, bits := i, byte(0)
		for i < len(text) && wordBytes[text[i]] {
			bits |= text[i]
			i++
		}
		more := true
		switch {
		case bits >= utf8.RuneSelf || i-start == 1 && m.begins.may(text[start:i]):
			more = m.analyse(a, text, start, i, yield)
		case !m.begins.may(text[start:i]):
		default:
			if word := m.wordOf(a, text, start, i); word >= 0 {
				more = yield(span{start, i, word})
			}
		}
		if !more {
			return
		}
	}
}

// wordOf returns which word of the query the ASCII word text[start:end] is, -1
// for none.
func (m *marker) wordOf(a *analyzer, text string, start, end int) int {
	hash := maphash.String(seed, text[start:end])
	known := &m.seen[hash%uint64(len(m.seen))]
	if known.hash != hash {
		*known = seen{hash, -1}
		m.analyse(a, text, start, end, func(s span) bool {
			known.word = s.word
			return false
		})
	}
	return known.word
}

// analyse calls yield with the matches in text[start:end], and reports whether
// more are wanted.
func (m *marker) analyse(a *analyzer, text string, start, end int, yield func(span) bool) (more bool) {
	context := end
	if end-start == 1 {
		context = min(len(text), end+signSize)
	}
	more = true
	a.Each(text[start:context], func(o analysis.Occurrence) bool {
		a.words++
		if start+o.Start >= end {
			return false
		}
		if w, known := m.words[o.Term]; known {
			s := span{start + o.Start, start + o.End, w.word}
			if w.half {
				s.end = start + o.Half
			}
			more = yield(s)
		}
		return more
	})
	return more
}
