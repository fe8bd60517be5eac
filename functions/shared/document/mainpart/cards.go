package mainpart

import (
	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
)

// run is a sequence of sibling elements with the same name and the same groups of words in class
// and id, such as the items of a list, the products of a shop or the posts of a thread. The field
// elements is the number of these elements. The other fields are sums over them (see subtree).
type run struct{ elements, blocks, bytes, linked, prose, prices int32 }

// isCards reports whether a run has at least three elements with two blocks each on average, such
// as products with their pictures and prices.
func (r *run) isCards() bool { return r.elements >= 3 && r.blocks >= 2*r.elements }

// findRuns finds the runs of similar sibling elements in the page (see run), and sets the fields
// runs, runOf and inRuns. Run 0 is empty: elements without text have it in runOf.
func (s *surroundings) findRuns() {
	all := s.page.Elements
	s.runs, s.runOf = make([]run, 1, len(all)/8+8), make([]int32, len(all))
	var last [256]int32 // by depth: the last element with text
	for i := int32(1); int(i) < len(all); i++ {
		e, t := &all[i], &s.trees[i]
		if t.blocks == 0 {
			continue
		}
		before := last[e.Depth]
		last[e.Depth] = i
		if before > 0 && all[before].Parent == e.Parent && all[before].Name == e.Name && all[before].Own == e.Own {
			s.runOf[i] = s.runOf[before]
		} else {
			s.runOf[i] = int32(len(s.runs))
			s.runs = append(s.runs, run{})
		}
		r := &s.runs[s.runOf[i]]
		r.elements++
		r.blocks += t.blocks
		r.bytes += t.bytes
		r.linked += t.linked
		r.prose += t.prose
		r.prices += t.prices
	}
	for i := 1; i < len(all); {
		if r := &s.runs[s.runOf[i]]; r.isCards() {
			s.inRuns += int(s.trees[i].bytes)
			i = int(all[i].Last)
		} else {
			i++
		}
	}
}

// cards adds features of block i to the vector: whether the block has a price, and figures about
// two runs of similar sibling elements (see run). The first run is the one to which the block's own
// element belongs. The second run is the innermost one around the block whose elements are cards,
// such as products (see isCards).
func (v *vector) cards(i int, b *hypertext.Block) {
	all := v.page.Elements
	at, steps := b.Element, 0
	for at > 0 && !v.runs[v.runOf[at]].isCards() {
		at = all[at].Parent
		steps++
	}
	v.steps += steps
	v.flag(v.texts[i].price)
	own := &v.runs[v.runOf[b.Element]]
	v.add(level(int(own.elements)), level(int(own.bytes)))
	if at == 0 {
		v.add(0, 0, 0, 0, 0, 0, 0, 255)
		return
	}
	r, card := &v.runs[v.runOf[at]], &v.trees[at]
	v.add(level(int(r.elements)), level(int(r.bytes/r.elements)), share(int(r.linked), int(r.bytes)), share(int(r.prose), int(r.bytes)),
		share(int(r.bytes), v.bytes[len(v.texts)]), share(int(r.prices), int(r.elements)), level(int(card.blocks)), uint8(min(steps, 254)))
}

// rankOf returns the level of a heading, 1 to 6, or 0 for any other element.
func rankOf(name atom.Atom) int {
	switch name {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 0
}
