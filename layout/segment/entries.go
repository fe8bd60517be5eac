package segment

import (
	"encoding/binary"
	"strings"
)

// Entry is an entry of a list of terms in a page (in HTML, a dt element and what follows it) to which an address
// of its own leads. An example is a function in a manual. An entry begins with its term, and ends where the next
// entry begins or its list ends. The term is no heading: it is not in Document.Headings.
type Entry struct {
	Start    int    // offset of the entry in Document.Body, in bytes
	Term     int    // size of the term, with which the entry begins, in bytes; of a long term, only its beginning counts
	End      int    // offset of the end of the entry's list in Document.Body
	Fragment string // what follows the # in the entry's address, as in a Section; at most MaxFragment bytes
}

// MaxFragment is the greatest size of an entry's fragment, in bytes.
const MaxFragment = 300

// maxTermLine is the greatest size of a term, in bytes, that can be encoded as "the whole line" (see
// appendEntries).
const maxTermLine = 255

// appendEntries appends the number of a document's entries, and the entries; nothing if it has none. An entry is
// encoded as:
//
//	start      difference to the start of the entry before; varint
//	term       its size; 0 if the term is the whole line at the start, of at most 255 bytes; varint
//	end        varint:
//	           0 if the end is the byte before the next entry, or the end of the body for the last entry
//	           1 if it is the same as that of the entry before
//	           else the size of the text from the start to the end, plus 1
//	fragment   three pieces, which together are the fragment:
//	           bytes with which the fragment of the entry before begins: their number, varint
//	           other bytes: string
//	           bytes of the term: their number and, unless this is 0, their offset in the term; varints
//
// So most fragments of a manual need few bytes. Examples: the fragment json.dump is a piece of its term
// "json.dump(obj)". The fragment W.open, after W.close, is "W." from the fragment before, and "open" from its term
// "open()".
func appendEntries(b []byte, d *Document) []byte {
	if len(d.Entries) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(d.Entries)))
	last := Entry{}
	for i, e := range d.Entries {
		term, end := e.Term, e.End-e.Start+1
		if term == lineSize(d.Body, e.Start) {
			term = 0
		}
		switch {
		case e.End == endBeforeNext(d.Entries, i, d.Body):
			end = 0
		case e.End == last.End:
			end = 1
		}
		for _, n := range [...]int{e.Start - last.Start, term, end} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		b = appendFragment(b, e.Fragment, last.Fragment, d.Body[e.Start:][:e.Term])
		last = e
	}
	return b
}

// lineSize returns the size of the line that begins at an offset of a body; 0 if it has more than
// maxTermLine bytes.
func lineSize(body string, start int) int {
	line := body[start:min(len(body), start+maxTermLine+1)]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		return end
	}
	if len(line) > maxTermLine {
		return 0
	}
	return len(line)
}

// endBeforeNext returns the offset of the byte before entry i+1, or the size of the body if entry i is the last
// one.
func endBeforeNext(entries []Entry, i int, body string) int {
	if i+1 < len(entries) {
		return entries[i+1].Start - 1
	}
	return len(body)
}

// appendFragment appends a fragment as three pieces (see appendEntries). If the term does not contain the whole
// fragment, it may contain the text behind the last point of the fragment.
func appendFragment(b []byte, fragment, before, term string) []byte {
	head, name, at := "", fragment, strings.Index(term, fragment)
	if at < 0 {
		point := strings.LastIndexByte(fragment, '.') + 1
		if head, name = fragment[:point], fragment[point:]; name != "" {
			at = strings.Index(term, name)
		}
		if at < 0 {
			head, name = fragment, ""
		}
	}
	shared := 0
	for shared < min(len(head), len(before)) && head[shared] == before[shared] {
		shared++
	}
	b = appendText(binary.AppendUvarint(b, uint64(shared)), head[shared:])
	if b = binary.AppendUvarint(b, uint64(len(name))); name != "" {
		b = binary.AppendUvarint(b, uint64(at))
	}
	return b
}

// areEntries reports whether the entries of a document can be encoded: their starts ascend, their terms and ends
// are within the body, and they have fragments.
func areEntries(d *Document) bool {
	last := -1
	for _, e := range d.Entries {
		if e.Start <= last || e.Term < 1 || e.Term > e.End-e.Start || e.End > len(d.Body) || e.Fragment == "" || len(e.Fragment) > MaxFragment {
			return false
		}
		last = e.Start
	}
	return true
}

// entries reads the entries of a document with the given body.
func (p *parser) entries(body string) []Entry {
	const least = 6 // size of the smallest entry, in bytes
	n := p.count(least)
	if n == 0 {
		return nil
	}
	entries := make([]Entry, n)
	last := Entry{}
	for i := range entries {
		e := &entries[i]
		e.Start = last.Start + int(p.number(uint64(len(body))))
		if e.Term = int(p.number(uint64(len(body)))); e.Start > len(body) || e.Term > len(body)-e.Start {
			p.failed = true
		}
		e.End = int(p.number(uint64(len(body) + 1)))
		if p.failed {
			return nil
		}
		if e.Term == 0 {
			e.Term = lineSize(body, e.Start)
		}
		switch e.End {
		case 0: // the end is set when the next entry is known
		case 1:
			e.End = last.End
		default:
			e.End += e.Start - 1
		}
		e.Fragment = p.fragment(last.Fragment, body[e.Start:][:e.Term])
		last = *e
	}
	for i := range entries {
		if entries[i].End == 0 {
			entries[i].End = endBeforeNext(entries, i, body)
		}
	}
	return entries
}

// fragment reads a fragment that appendFragment has encoded. The parameter before is the fragment of the entry
// before, and term is the term of this entry.
func (p *parser) fragment(before, term string) string {
	shared := int(p.number(uint64(len(before))))
	fragment := before[:shared] + p.text()
	if size := int(p.number(uint64(len(term)))); size > 0 {
		at := int(p.number(uint64(len(term) - size)))
		fragment += term[at:][:size]
	}
	if len(fragment) > MaxFragment {
		p.failed = true
	}
	return fragment
}
