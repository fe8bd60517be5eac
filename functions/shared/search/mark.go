package search

import (
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// marker finds the words of a query in texts.
type marker struct {
	memory  *Memory
	words   map[string]meant // by term
	begins  beginnings       // of the words that they may be
	weights []float64        // of the query's words
	all     float64          // their sum

	vocabulary *vocabulary
	english    bool // the text is
}

// meant is a word of the query.
type meant struct {
	word int
	half bool // of the pair only the first character
}

// span is a match in a text, in bytes.
type span struct{ start, end, word int }

// newMarker returns a marker that has to be ended.
func newMarker(p *plan, memory *Memory) *marker {
	m := &marker{memory: memory, vocabulary: memory.lend(), words: make(map[string]meant, len(p.words))}
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

// hit returns a document with its matches marked as its language has it.
func (m *marker) hit(d *segment.Document) Hit {
	m.vocabulary.read(d.Lang)
	m.english = d.Lang == "en"
	h := Hit{Document: *d, MarkedTitle: m.whole(d.Title), Snippet: m.snippet(d.Body)}
	h.Body = ""
	return h
}

// end ends the use of the marker.
func (m *marker) end() { m.memory.giveBack(m.vocabulary) }

// signSize is how far behind a lone letter lies what makes a name of it: C++.
const signSize = 2 + utf8.UTFMax

// each calls yield with every match in a text that begins before end, which
// yield may change. Words that begin as none of the query does are passed over.
func (m *marker) each(text string, end *int, yield func(span)) {
	for from := 0; from < *end; {
		to, bits := wordEnd(text, from)
		if to == from {
			from++
			continue
		}
		if bits >= utf8.RuneSelf || m.may(text[from:to]) {
			m.word(text, from, to, yield)
		}
		from = to
	}
}

// may reports whether a word of ASCII may be of the query.
func (m *marker) may(word string) bool {
	return m.begins.may(word) && (!m.english || m.begins.mayBeEnglish(word))
}

// word calls yield with the matches in the word text[start:end].
func (m *marker) word(text string, start, end int, yield func(span)) {
	if end-start == 1 {
		m.analyse(text, start, end, min(len(text), end+signSize), yield)
		return
	}
	known := m.vocabulary.word(text[start:end])
	if known.parts {
		m.analyse(text, start, end, end, yield)
		return
	}
	w, found := m.words[known.term]
	if !found && known.loose != "" {
		w, found = m.words[known.loose]
	}
	if found {
		yield(span{start, end, w.word})
	}
}

// analyse calls yield with the matches in text[start:end], which is analysed
// with what follows it up to context.
func (m *marker) analyse(text string, start, end, context int, yield func(span)) {
	m.vocabulary.analyzer.Each(text[start:context], func(o analysis.Occurrence) bool {
		if start+o.Start >= end {
			return false
		}
		if w, known := m.words[o.Term]; known {
			s := span{start + o.Start, start + o.End, w.word}
			if w.half {
				s.end = start + o.Half
			}
			yield(s)
		}
		return true
	})
}
