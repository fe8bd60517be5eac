package document

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// MaxTerms is the greatest number of terms of a page with fragments.
const MaxTerms = 10_000

const (
	maxTerm     = 80 // greatest size of the text of a term that is kept for its entry, in bytes
	aboveAnchor = 4  // greatest number of elements around an anchor in which a term is looked for
)

// term is an element dt of the page with the fragment of an address that leads to it.
type term struct {
	element  int32 // index in hypertext.Page.Elements
	fragment string
}

// terms returns the terms of the page (elements dt) to which an address with a fragment leads, in the order of the
// page. The fragment is the name of the term's own anchor or else of the first anchor within it:
//
//	<dt id="json.dump">json.dump(obj, fp)</dt>          Sphinx
//	<dt><a id="GUC-PORT"></a><code>port</code></dt>     DocBook
//
// At most MaxTerms terms, with at most MaxFragments bytes of fragments together, are returned. The result omitted
// is the number of terms left out because of these limits.
func (d *Document) terms() (terms []term, omitted int) {
	if !slices.ContainsFunc(d.page.Elements, func(e hypertext.Element) bool { return e.Name == atom.Dt }) {
		return nil, 0
	}
	size, last := 0, int32(-1)
	for _, a := range d.anchors() {
		at := a.Element
		for range aboveAnchor {
			if at > 0 && d.page.Elements[at].Name != atom.Dt {
				at = d.page.Elements[at].Parent
			}
		}
		if e := &d.page.Elements[max(at, 0)]; e.Name != atom.Dt || at == last || e.Flags&(hypertext.Navigation|hypertext.Hidden) != 0 {
			continue
		}
		last = at
		if len(terms) == MaxTerms || size+len(a.Name) > MaxFragments {
			omitted++
			continue
		}
		terms, size = append(terms, term{at, a.Name}), size+len(a.Name)
	}
	return terms, omitted
}

// entries returns the entries of lists of terms in the page's main part, in the order of the page. An entry begins
// with a term; a term that is a heading begins none. The end of an entry is the end of its list: of the element
// around the term. The parameter blocks has the blocks of the page, and size is the size of Body in bytes.
func (d *Document) entries(blocks []Block, size int) (entries []segment.Entry) {
	if d.converted {
		return nil
	}
	terms, _ := d.terms()
	if len(terms) == 0 {
		return nil
	}
	// for each block of the page, and for the end of the page, the offset of the nearest text in Body
	// before that place
	ends := make([]int, len(blocks)+1)
	for i, b := range blocks {
		ends[i+1] = max(ends[i], int(b.End))
	}
	for _, t := range terms {
		e := &d.page.Elements[t.element]
		i := d.blockFrom(e.Start)
		if i == len(blocks) || d.page.Blocks[i].Start >= e.End || blocks[i].End == 0 || blocks[i].Heading > 0 {
			continue
		}
		b := &blocks[i]
		text := d.page.Text[d.page.Blocks[i].Start:][:b.End-b.Start]
		end := ends[d.blockFrom(d.page.Elements[e.Parent].End)]
		entries = append(entries, segment.Entry{Start: int(b.Start), Term: termSize(text), End: min(end, size), Fragment: t.fragment})
	}
	return entries
}

// termSize returns how many bytes of a term's text are kept: all, if these are at most maxTerm. Of a longer text,
// at most maxTerm bytes are kept; it is cut at a space, if there is one in their second half.
func termSize(text []byte) int {
	if len(text) <= maxTerm {
		return len(text)
	}
	size := maxTerm
	for !utf8.RuneStart(text[size]) {
		size--
	}
	if end := bytes.LastIndexByte(text[:size], ' '); end >= maxTerm/2 {
		return end
	}
	return size
}

// blockFrom returns the index of the first block that begins at the offset at of the page's text, or behind it.
func (d *Document) blockFrom(at int32) int {
	i, _ := slices.BinarySearchFunc(d.page.Blocks, at, func(b hypertext.Block, at int32) int { return cmp.Compare(b.Start, at) })
	return i
}

// moveEntries adapts Entries when blocks are moved out of Body. The parameter moves says for each block whether it
// is moved. An entry whose term is moved is removed. The ends of the others are moved to the end of the last text
// that stays before them.
func (c *Content) moveEntries(moves []bool) {
	if len(c.Entries) == 0 {
		return
	}
	var former, present []int // for each block that stays, where it begins in the former body, and where in the present one
	ends := []int{0}          // ends[i]: where the text before that block ends; the last one: where all text ends
	start := 0
	for i, b := range c.Blocks {
		if b.End > 0 && !moves[i] {
			former, present = append(former, int(b.Start)), append(present, start)
			start += int(b.End-b.Start) + 1
			ends = append(ends, start-1)
		}
	}
	all := c.Entries
	c.Entries = nil
	for _, e := range all {
		at, stays := slices.BinarySearch(former, e.Start)
		if !stays {
			continue
		}
		next, _ := slices.BinarySearch(former, e.End)
		c.Entries = append(c.Entries, segment.Entry{Start: present[at], Term: e.Term, End: ends[next], Fragment: e.Fragment})
	}
}
