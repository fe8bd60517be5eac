package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Section is a part of a hit's page to which an address of its own leads. It is a section with a heading, or an
// entry of a list of terms, such as a function in a manual.
type Section struct {
	Heading string // heading of the section, or term of the entry; a long term is cut and ends with "…"
	URL     string // the page's address with the fragment that leads to the heading
}

const (
	// maxSections is the greatest number of sections of a hit: that of the snippet, and further ones.
	maxSections = 3
	// sectionScan and sectionPatience replace scanSize and patience (limits on how much of a text is read to find
	// its snippet) for documents with sections. They are greater, because a section's address leads readers even
	// to a match deep in the page.
	sectionScan     = 256 << 10
	sectionPatience = 16 << 10
	// sectionSize is the number of bytes at the beginning of a section that are examined if its heading
	// has words of the query.
	sectionSize = 8 << 10
	// headingScan is the number of bytes of a document's headings and terms in which words of the query are
	// looked for.
	headingScan = 64 << 10
	// maxNamed is the greatest number of sections that are examined because their headings have words of the
	// query. The sections whose headings have most of the query are examined.
	maxNamed = 8
)

// bodyPart is a section or an entry of a document: a part of its body with an address of its own.
type bodyPart struct {
	start, end int // range of the body; that of an entry goes to the end of its list, and includes the entries after it
	heading    string
	isEntry    bool // whether it is an entry
	isCut      bool // whether the heading is only the beginning of an entry's term
	fragment   string
}

// bodyParts returns the sections and entries of a document in the order of its body.
func bodyParts(d *segment.Document) []bodyPart {
	all := make([]bodyPart, 0, len(d.Sections)+len(d.Entries))
	for n, s := range d.Sections {
		end := len(d.Body)
		if n+1 < len(d.Sections) {
			end = d.Sections[n+1].Start
		}
		all = append(all, bodyPart{start: s.Start, end: end, heading: d.Headings[s.Heading], fragment: s.Fragment})
	}
	for _, e := range d.Entries {
		end := e.Start + e.Term
		isCut := end < len(d.Body) && d.Body[end] != '\n'
		all = append(all, bodyPart{e.Start, e.End, d.Body[e.Start:end], true, isCut, e.Fragment})
	}
	slices.SortStableFunc(all, func(a, b bodyPart) int { return cmp.Compare(a.start, b.start) })
	return all
}

// partAt returns the index of the last part that begins at or before an offset of the body and ends behind it; -1
// if there is none. If parts lie within each other, this is the innermost one.
func partAt(all []bodyPart, at int) int {
	n, _ := slices.BinarySearchFunc(all, at+1, func(p bodyPart, at int) int { return cmp.Compare(p.start, at) })
	for n--; n >= 0 && all[n].end <= at; n-- {
	}
	return n
}

// namedPart is a part of a document whose heading has words of the query.
type namedPart struct {
	number  int     // index of the part
	heading float64 // sum of the weights of the query's words in the heading
	value   float64 // sum of the weights of the query's words in the text of the part (see examine)
	best    densest // the best window of the part
}

// excerpt returns the snippet of a document's body, and the sections or entries to which the hit leads:
//
//	snippet   the best window of the body (see the method best). A window in a part whose heading has words
//	          of the query replaces it, if it is better, or as good and the heading has more of the query.
//	section   the part in which the snippet begins; nil if there is none
//	further   other parts that have at least as much of the query as the snippet, and have words of the
//	          query in their headings; together with section at most maxSections
func (m *textMarker) excerpt(d *segment.Document) (snippet []Fragment, section *Section, further []Section) {
	if len(d.Sections)+len(d.Entries) == 0 {
		return m.snippet(d.Body), nil, nil
	}
	const slight = 1e-9
	all := bodyParts(d)
	best, _ := m.best(d.Body, sectionScan, sectionPatience)
	own, heading := -1, 0.0 // part of the best window, and the weights of the words in its heading
	if best.highest > 0 {
		own = partAt(all, best.start)
	}
	if own >= 0 {
		heading = m.weightOf(&all[own])
	}
	named := m.namedParts(d.Body, all)
	for i := range named {
		n := &named[i]
		if n.best.highest > best.highest+slight || n.best.highest > best.highest-slight && n.heading > heading+slight {
			best, own, heading = n.best, n.number, n.heading
		}
	}
	w := best.fit(d.Body, snippetSize)
	end := w.end
	var spans []span
	m.each(d.Body, w.start, &end, func(s span) { spans = append(spans, s) })
	snippet = fragments(d.Body, w, spans)

	most := maxSections
	if own >= 0 {
		section = all[own].section(d)
		most--
	}
	for _, n := range named {
		if len(further) < most && n.number != own && n.value > best.highest-slight {
			further = append(further, *all[n.number].section(d))
		}
	}
	return snippet, section, further
}

// namedParts returns the parts of a body whose headings have words of the query, at most maxNamed. Parts whose
// headings have more of the query come first. Of parts with equal headings, those whose texts have more of the
// query come first.
func (m *textMarker) namedParts(body string, all []bodyPart) (named []namedPart) {
	size := 0
	for n := range all {
		if size += len(all[n].heading); size > headingScan {
			break
		}
		if weight := m.weightOf(&all[n]); weight > 0 {
			named = append(named, namedPart{number: n, heading: weight})
		}
	}
	slices.SortStableFunc(named, func(a, b namedPart) int { return cmp.Compare(b.heading, a.heading) })
	named = named[:min(len(named), maxNamed)]
	for i := range named {
		m.examine(body, all, &named[i])
	}
	slices.SortStableFunc(named, func(a, b namedPart) int {
		return cmp.Or(cmp.Compare(b.heading, a.heading), cmp.Compare(b.value, a.value))
	})
	return named
}

// examine sets the fields value and best of a part. It reads the text of the part up to where the next part begins,
// but at most sectionSize bytes.
func (m *textMarker) examine(body string, all []bodyPart, n *namedPart) {
	start, end := all[n.number].start, all[n.number].end
	if n.number+1 < len(all) {
		end = min(end, all[n.number+1].start)
	}
	end = min(end, start+sectionSize)
	n.best = m.newDensest(body)
	seen := make([]bool, len(m.weights))
	m.each(body, start, &end, func(s span) {
		n.best.add(s)
		if !seen[s.word] {
			seen[s.word] = true
			n.value += m.weights[s.word]
		}
	})
}

// weightOf returns the sum of the weights of those words of the query that the heading of a part has. A word in
// the heading of an entry counts a little more if it is written as in the query. So the query json.dumps leads to
// the entry json.dumps, and not to json.dump, although both have the same stem.
func (m *textMarker) weightOf(part *bodyPart) (sum float64) {
	const asWritten = 1e-3
	var seen []float64 // for each word, the greatest factor of its weight so far
	text, end := part.heading, len(part.heading)
	m.each(text, 0, &end, func(s span) {
		if seen == nil {
			seen = make([]float64, len(m.weights))
		}
		factor := 1.0
		if part.isEntry && strings.EqualFold(text[s.start:s.end], m.written[s.word]) {
			factor += asWritten
		}
		if factor > seen[s.word] {
			sum += (factor - seen[s.word]) * m.weights[s.word]
			seen[s.word] = factor
		}
	})
	return sum
}

// section returns the part of the document d as hits show it: with its heading and its address.
func (p *bodyPart) section(d *segment.Document) *Section {
	heading := strings.TrimSpace(tidy(p.heading))
	if p.isCut {
		heading += "…"
	}
	return &Section{Heading: heading, URL: d.URL + "#" + escape(p.fragment)}
}

// escape turns the name of an anchor into the fragment of an address. It percent-encodes the characters that the
// WHATWG URL standard encodes in fragments, and the percent sign, which browsers would decode otherwise.
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
