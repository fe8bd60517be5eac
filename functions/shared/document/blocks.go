package document

import (
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/layout"
)

// Block is a block of a page's text: a paragraph, a heading, an item of a list, a cell of a table.
type Block struct {
	Hash       uint64 // hash of the block's text and the names of the elements around it
	Start, End int32  // range of the block's text in Content.Body; both 0 if it is not there
	Heading    int32  // for a heading, its index in Content.Headings plus 1; else 0
	Code       bool   // the block is preformatted text, such as source code
	Label      bool   // the block introduces the next one: a heading below the first level, a caption, "See also:"
}

// blocks returns a Block for each block of the page. The parameter kept says for each block whether
// it belongs to the main part. Content.Body begins with the texts of these blocks, one on each
// line, and has size bytes: what did not fit was cut off at its end. A block of the main part gets
// its offsets in Body, unless all of it was cut off. The parameter starts has the offsets of the
// page's headings in the page's text.
func (d *Document) blocks(kept []bool, size int, starts []int32) []Block {
	all := make([]Block, len(d.page.Blocks))
	paths := make([]uint64, len(d.page.Elements))
	for i := 1; i < len(paths); i++ {
		e := &d.page.Elements[i]
		paths[i] = (paths[e.Parent] ^ uint64(e.Name)) * 0x9E3779B97F4A7C15 // Fibonacci hashing (Knuth, TAOCP 6.4)
	}
	at, heading := 0, 0
	for i := range all {
		b := &d.page.Blocks[i]
		text := d.page.Text[b.Start:b.End]
		all[i] = Block{
			Hash:  fingerprint.Exact(paths[b.Element], text),
			Code:  b.Flags&hypertext.Preformed != 0,
			Label: text[len(text)-1] == ':' || isLabel(d.page.Elements[b.Element].Name),
		}
		for heading < len(starts) && starts[heading] < b.Start {
			heading++
		}
		if heading < len(starts) && starts[heading] == b.Start {
			all[i].Heading = int32(heading + 1)
		}
		if kept[i] {
			if at < size {
				all[i].Start, all[i].End = int32(at), int32(min(at+len(text), size))
			}
			at += len(text) + 1
		}
	}
	return all
}

// isLabel reports whether elements with the given name introduce the text after them, as headings
// and captions do.
func isLabel(name atom.Atom) bool {
	switch name {
	case atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dt, atom.Th, atom.Caption, atom.Summary:
		return true
	}
	return false
}

// longBlock is the least size in bytes (about ten words) of a repeated block that is moved out of
// the main part even if unrepeated blocks come before and after it (see Without). Shorter blocks,
// such as "Parameters", may be on many pages by chance.
const longBlock = 60

// Without returns the content without the text that a site repeats on its pages: blocks for whose
// hash the function repeated returns true. They are moved from Body to Outside, and removed from
// Headings:
//
//	repeated block of the main part                             moves
//	before the first or after the last unrepeated block         yes
//	between these, of at least longBlock bytes                  yes
//	between these, shorter, such as "Parameters"                no
//	label (heading, caption) before the first unrepeated block  no
//	code                                                        no
//
// A main part of nothing but repeated blocks stays as it is. The field Blocks is not changed: its
// offsets remain those of the former Body.
func (c Content) Without(repeated func(hash uint64) bool) Content {
	main := make([]int, 0, len(c.Blocks)) // indexes of the blocks of the main part
	moves := make([]bool, len(c.Blocks))
	moved := 0
	for i, b := range c.Blocks {
		moves[i] = !b.Code && repeated(b.Hash)
		if b.End > 0 {
			main = append(main, i)
		}
	}
	first := slices.IndexFunc(main, func(i int) bool { return !moves[i] })
	for first > 0 && c.Blocks[main[first-1]].Label {
		first--
	}
	last := len(main) - 1
	for last >= 0 && moves[main[last]] {
		last--
	}
	for n, i := range main {
		b := &c.Blocks[i]
		if moves[i] = moves[i] && (n < first || n > last || b.End-b.Start >= longBlock); moves[i] {
			moved += int(b.End - b.Start)
		}
	}
	if first < 0 {
		return c
	}
	if moved > 0 {
		c.move(main, moves)
	}
	c.dropHeadings(moves)
	return c
}

// dropHeadings removes from Headings the texts of the blocks for which moves is true. If such a
// block has no text in Body, so that none was moved to Outside, its heading is appended to Outside.
func (c *Content) dropHeadings(moves []bool) {
	kept := c.Headings[:0:0]
	next := 0
	for i, b := range c.Blocks {
		if !moves[i] || b.Heading == 0 {
			continue
		}
		if b.End == 0 {
			c.Outside = join(c.Outside, c.Headings[b.Heading-1])
		}
		kept = append(kept, c.Headings[next:b.Heading-1]...)
		next = int(b.Heading)
	}
	if next > 0 {
		c.Headings = append(kept, c.Headings[next:]...)
	}
}

// join joins two texts by a line feed. If one of them is empty, it returns the other.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// move moves the text of the blocks for which moves is true from Body to the beginning of Outside.
// The parameter main has the indexes of all blocks of the main part. It adapts the spans in
// Emphasis and Large to the new Body.
func (c *Content) move(main []int, moves []bool) {
	var body, outside strings.Builder
	body.Grow(len(c.Body))
	var parts []layout.Span // ranges of the old body that stay in the body
	for _, i := range main {
		b := &c.Blocks[i]
		to := &body
		if moves[i] {
			to = &outside
		} else {
			parts = append(parts, layout.Span{Start: int(b.Start), End: int(b.End)})
		}
		if to.Len() > 0 {
			to.WriteByte('\n')
		}
		to.WriteString(c.Body[b.Start:b.End])
	}
	rest := passage{text: []byte(body.String()), parts: parts}
	c.Emphasis, c.Large = rest.find(c.Emphasis), rest.find(c.Large)
	c.Body, c.Outside = body.String(), join(outside.String(), c.Outside)
}
