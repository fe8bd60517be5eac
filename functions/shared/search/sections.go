package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Section is a part of a hit's page with an address of its own.
type Section struct {
	Heading string
	URL     string // the page's address with the fragment that leads to the heading
}

const (
	// maxSections is the greatest number of sections of a hit: that of the snippet, and further ones.
	maxSections = 3
	// sectionScan replaces scanSize for texts with sections, and sectionPatience replaces patience,
	// because the address of a section leads to matches deep in a page.
	sectionScan     = 256 << 10
	sectionPatience = 64 << 10
	// sectionSize is the number of bytes at the beginning of a section that are examined if its heading
	// has words of the query.
	sectionSize = 8 << 10
	// headingScan is the number of bytes of a document's headings in which words of the query are looked
	// for.
	headingScan = 64 << 10
	// maxNamed is the greatest number of sections with words of the query in their headings that are
	// examined: those whose headings have most of the query.
	maxNamed = 8
)

// namedSection is a section of a document whose heading has words of the query.
type namedSection struct {
	section int     // index in segment.Document.Sections
	heading float64 // sum of the weights of the query's words in the heading
	value   float64 // sum of the weights of the query's words in the section
	best    densest // the best window of the section
}

// excerpt returns the snippet of a document's body, the section in which the snippet begins (nil if it
// is in none), and further sections. A further section has as much of the query as the snippet, and
// words of the query in its heading. The snippet is the best window of the body (see the method best).
// But if the section of a heading with more of the query has a window as good, it is that window.
func (m *textMarker) excerpt(d *segment.Document) (snippet []Fragment, section *Section, further []Section) {
	if len(d.Sections) == 0 {
		return m.snippet(d.Body), nil, nil
	}
	const slight = 1e-9
	best, _ := m.best(d.Body, sectionScan, sectionPatience)
	own, heading := -1, 0.0 // section of the best window, and the weights of the words in its heading
	if best.highest > 0 {
		own = sectionAt(d.Sections, best.start)
	}
	if own >= 0 {
		heading = m.weightOf(d.Headings[d.Sections[own].Heading])
	}
	all := m.namedSections(d)
	for i := range all {
		n := &all[i]
		if n.best.highest > best.highest+slight || n.best.highest > best.highest-slight && n.heading > heading+slight {
			best, own, heading = n.best, n.section, n.heading
		}
	}
	w := best.fit(d.Body, snippetSize)
	end := w.end
	var spans []span
	m.each(d.Body, w.start, &end, func(s span) { spans = append(spans, s) })
	snippet = fragments(d.Body, w, spans)

	most := maxSections
	if own >= 0 {
		section = sectionOf(d, own)
		most--
	}
	for _, n := range all {
		if len(further) < most && n.section != own && n.value > best.highest-slight {
			further = append(further, *sectionOf(d, n.section))
		}
	}
	return snippet, section, further
}

// namedSections returns the sections of a document whose headings have words of the query, at most
// maxNamed. Those with the most of the query in their headings come first and, of equal ones, those with
// the most in their texts.
func (m *textMarker) namedSections(d *segment.Document) (all []namedSection) {
	size := 0
	for n, s := range d.Sections {
		if size += len(d.Headings[s.Heading]); size > headingScan {
			break
		}
		if weight := m.weightOf(d.Headings[s.Heading]); weight > 0 {
			all = append(all, namedSection{section: n, heading: weight})
		}
	}
	slices.SortStableFunc(all, func(a, b namedSection) int { return cmp.Compare(b.heading, a.heading) })
	all = all[:min(len(all), maxNamed)]
	for i := range all {
		m.examine(d, &all[i])
	}
	slices.SortStableFunc(all, func(a, b namedSection) int {
		return cmp.Or(cmp.Compare(b.heading, a.heading), cmp.Compare(b.value, a.value))
	})
	return all
}

// examine sets the fields value and best of a section.
func (m *textMarker) examine(d *segment.Document, n *namedSection) {
	start, end := d.Sections[n.section].Start, len(d.Body)
	if n.section+1 < len(d.Sections) {
		end = d.Sections[n.section+1].Start
	}
	end = min(end, start+sectionSize)
	n.best = m.newDensest(d.Body)
	seen := make([]bool, len(m.weights))
	m.each(d.Body, start, &end, func(s span) {
		n.best.add(s)
		if !seen[s.word] {
			seen[s.word] = true
			n.value += m.weights[s.word]
		}
	})
}

// weightOf returns the sum of the weights of the query's words in a text.
func (m *textMarker) weightOf(text string) (sum float64) {
	var seen []bool // whether each word has been found
	end := len(text)
	m.each(text, 0, &end, func(s span) {
		if seen == nil {
			seen = make([]bool, len(m.weights))
		}
		if !seen[s.word] {
			seen[s.word] = true
			sum += m.weights[s.word]
		}
	})
	return sum
}

// sectionAt returns the index of the section that has an offset of the body; -1 for text before the
// first section.
func sectionAt(sections []segment.Section, at int) int {
	n, _ := slices.BinarySearchFunc(sections, at+1, func(s segment.Section, at int) int { return cmp.Compare(s.Start, at) })
	return n - 1
}

func sectionOf(d *segment.Document, n int) *Section {
	s := &d.Sections[n]
	return &Section{Heading: strings.TrimSpace(tidy(d.Headings[s.Heading])), URL: d.URL + "#" + escape(s.Fragment)}
}

// escape returns an anchor's name as the fragment of an address: with the characters percent-encoded
// that the WHATWG URL standard encodes in fragments, and the percent sign, which a browser would decode.
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7F || strings.IndexByte("\"<>`%", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
