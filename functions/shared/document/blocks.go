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
	Hash       uint64 // hash of two things: the block's text, and the names of the elements around the block
	Start, End int32  // range of the block's text in Content.Body; both 0 if it is not there
	Heading    int32  // for a heading, its index in Content.Headings plus 1; else 0
	Code       bool   // whether the block is preformatted text, such as source code
	Label      bool   // whether the block introduces the next one: a heading of level 2 to 6, a caption, "See also:"
}

// blocks returns a Block for each block of the page. Three parameters describe the page's Content:
//
//	kept      for each block, whether it belongs to the main part: Body begins with these blocks
//	size      size of Body in bytes; the text beyond it was cut off
//	headings  elements of the headings, as the method headings returns them
//
// A block of the main part gets its offsets in Body, unless all of it was cut off.
func (d *Document) blocks(kept []bool, size int, headings []int32) []Block {
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
		for heading < len(headings) && d.page.Elements[headings[heading]].Start < b.Start {
			heading++
		}
		if heading < len(headings) && d.page.Elements[headings[heading]].Start == b.Start {
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

// longBlock is the least size in bytes (about ten words) of a repeated block that Without moves
// even out of the middle of the main part. A shorter one, such as "Parameters", stays there,
// because it may be on many pages by chance. At the beginning and the end of the main part the size
// does not matter.
const longBlock = 60

// Without moves text that a site repeats on its pages from the main part (Body) to Outside, and removes it from
// Headings, Sections and Entries. The function repeated returns true for the hash of a block that the site repeats.
// Not all repeated blocks of the main part are moved:
//
//	repeated block                                                           moved
//	before the first or behind the last block that is not repeated           yes
//	between others, of at least longBlock bytes                              yes
//	between others, shorter, such as the heading "Parameters"                no
//	label (heading, caption) directly before the first unrepeated block      no
//	code                                                                     no
//
// If all blocks of the main part are repeated, none is moved. The field Blocks is not changed: its offsets refer to
// the Body from before the call.
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
	c.moveSections(moves)
	c.moveEntries(moves)
	if moved > 0 {
		c.move(main, moves)
	}
	c.dropHeadings(moves)
	return c
}

// dropHeadings removes the headings of moved blocks from Headings. The parameter moves says for
// each block whether it is moved. The text of most such headings was in Body, and the method move
// has moved it to Outside. If a heading was not in Body, for example because Body was cut off
// before it, dropHeadings appends it to Outside.
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

// move moves text of blocks from Body to the beginning of Outside. The parameter main has the
// indexes of all blocks of the main part, and moves says for each block of the page whether it is
// moved. The spans in Emphasis and Large are adapted to the new Body.
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
