package document

import (
	"bytes"
	"cmp"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// MaxFragments is the greatest size of the fragments of all headings of a page together, in bytes. The same limit
// holds for the fragments of all terms.
const MaxFragments = 128 << 10

// sections returns the sections of the page's main part. A section begins with a heading to which an address with a
// fragment leads. It contains all text up to the next such heading. A heading that stands for the whole page begins
// no section: the first heading of the main part, if it is an h1, or if it is the page's first heading and Body
// begins with it. The parameter headings has the elements of the headings, and blocks has the blocks of the page.
func (d *Document) sections(headings []int32, blocks []Block) (sections []segment.Section) {
	if d.converted {
		return nil
	}
	fragments, _ := d.fragments(headings)
	first := true
	for _, b := range blocks {
		if b.Heading == 0 || b.End == 0 {
			continue
		}
		s := segment.Section{Heading: int(b.Heading) - 1, Start: int(b.Start)}
		s.Fragment = fragments[s.Heading]
		name := d.page.Elements[headings[s.Heading]].Name
		isPage := first && (name == atom.H1 || s.Heading == 0 && s.Start == 0)
		first = false
		if s.Fragment != "" && !isPage {
			sections = append(sections, s)
		}
	}
	return sections
}

// fragments returns, for each heading, the fragment of an address that leads to it; "" if there is none. The
// parameter headings has the elements of the headings. The fragment is the name of an anchor (the id of an element,
// or the name of an a element). Of several anchors, the first kind in this list counts:
//
//	the heading itself          <h2 id=x>Sizes</h2>
//	within the heading          <h2><a name=x></a>Sizes</h2>; of several the last
//	before the heading, with    <a id=x></a><h2>Sizes</h2>, <section id=x><h2>Sizes</h2>; of several
//	no text between             the last
//	behind the heading, in an   <div><h2>Sizes</h2><a id=x></a></div>
//	element without other text
//
// If several anchors have the same name, addresses lead to the first of them; the others do not count. The
// fragments have at most MaxFragments bytes together. The result omitted is the number of headings whose fragments
// were left out because of this limit.
func (d *Document) fragments(headings []int32) (fragments []string, omitted int) {
	fragments = make([]string, len(headings))
	anchors := d.anchors()
	size := 0
	after := int32(0) // elements before this one belong to an earlier heading
	for i, heading := range headings {
		e := &d.page.Elements[heading]
		own, within, before := "", "", ""
		for len(anchors) > 0 && anchors[0].Element < e.Last {
			switch a := anchors[0]; {
			case a.Element == heading:
				own = a.Name
			case a.Element > heading:
				within = a.Name // of several the last: MediaWiki has one for older addresses before it
			case a.Element >= after && d.isBlankBetween(d.page.Elements[a.Element].Start, e.Start):
				before = a.Name
			}
			anchors = anchors[1:]
		}
		after = e.Last
		fragment := cmp.Or(own, within, before)
		if fragment == "" && len(anchors) > 0 && d.isBehind(anchors[0].Element, e) {
			fragment, anchors = anchors[0].Name, anchors[1:]
		}
		if size+len(fragment) > MaxFragments {
			omitted++
			continue
		}
		fragments[i], size = fragment, size+len(fragment)
	}
	return fragments, omitted
}

// isBehind reports whether an element follows a heading within the element around the heading, and the element
// around has no text but that of the heading.
func (d *Document) isBehind(element int32, heading *hypertext.Element) bool {
	parent := &d.page.Elements[heading.Parent]
	return element < parent.Last && parent.Start == heading.Start && d.isBlankBetween(heading.End, parent.End)
}

// omittedFragments returns the number of headings whose fragments were left out (see fragments).
func (d *Document) omittedFragments() (omitted int) {
	size := 0
	for i := range d.page.Anchors {
		size += len(d.page.Anchors[i].Name)
	}
	if size > MaxFragments {
		_, elements := d.headings()
		_, omitted = d.fragments(elements)
	}
	return omitted
}

// anchors returns the anchors of the page to which addresses lead. If several anchors have the same name, addresses
// lead to the first of them only.
func (d *Document) anchors() []hypertext.Anchor {
	anchors := make([]hypertext.Anchor, 0, len(d.page.Anchors))
	seen := make(map[string]bool, len(d.page.Anchors))
	for _, a := range d.page.Anchors {
		if !seen[a.Name] {
			seen[a.Name] = true
			anchors = append(anchors, a)
		}
	}
	return anchors
}

// isBlankBetween reports whether there is no text but white space between two offsets of the page's text. If the
// offsets are more than four bytes apart, it returns false at once: blocks have single line feeds between them, so
// there must be text.
func (d *Document) isBlankBetween(from, to int32) bool {
	const most = 4
	return to-from <= most && (to <= from || len(bytes.TrimSpace(d.page.Text[from:to])) == 0)
}

// moveSections adapts Sections when blocks are moved out of Body. The parameter moves says for each block whether
// it is moved. A section whose heading is moved is removed; the rest of its text becomes a part of the section
// before. moveSections must be called before Headings is changed.
func (c *Content) moveSections(moves []bool) {
	if len(c.Sections) == 0 {
		return
	}
	former := c.Sections
	c.Sections = nil
	start, dropped := 0, 0 // place in the new body; number of headings dropped so far
	for i, b := range c.Blocks {
		stays := b.End > 0 && !moves[i]
		if len(former) > 0 && int(b.Heading) == former[0].Heading+1 {
			if s := former[0]; stays {
				c.Sections = append(c.Sections, segment.Section{Heading: s.Heading - dropped, Start: start, Fragment: s.Fragment})
			}
			former = former[1:]
		}
		if moves[i] && b.Heading > 0 {
			dropped++
		}
		if stays {
			start += int(b.End-b.Start) + 1
		}
	}
}

// fragmentsByElement returns the fragments that lead to the page's headings (see fragments). The key is the index
// of the heading's element in hypertext.Page.Elements. It returns nil for documents that were converted to HTML,
// such as PDF files: no address leads to their headings.
func (d *Document) fragmentsByElement() map[int32]string {
	if d.converted {
		return nil
	}
	_, elements := d.headings()
	fragments, _ := d.fragments(elements)
	byElement := make(map[int32]string, len(elements))
	for i, element := range elements {
		byElement[element] = fragments[i]
	}
	return byElement
}
