package structured

import (
	"cmp"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
)

// Parts returns the parts of a page, such as headings, paragraphs and tables. It uses only the blocks
// for which keep is true, those of the main part. The function resolve returns the URL of a reference,
// or "" if the reference cannot be resolved. The parameter fragments has the fragments by which addresses
// lead to headings; its keys are the headings' elements, as indexes in p.Elements.
func Parts(p *hypertext.Page, keep []bool, resolve func(string) string, fragments map[int32]string) []Part {
	b := newBuilder(p, keep, resolve)
	b.fragments = fragments
	b.build()
	return b.parts
}

func newBuilder(p *hypertext.Page, keep []bool, resolve func(string) string) builder {
	return builder{
		page: p, keep: keep, resolve: resolve, marks: marksOf(p, resolve), parts: []Part{},
		tables: make(map[int32]bool), lists: make(map[int32]itemCount), begun: make(map[int32]bool), figures: make(map[int32]bool), captions: make(map[int32]bool),
	}
}

func (b *builder) build() {
	p := b.page
	for i := range p.References {
		r := &p.References[i]
		if e := &p.Elements[r.Element]; e.Name == atom.Img && e.Flags&(hypertext.Hidden|hypertext.Navigation|hypertext.NoScript) == 0 {
			b.images = append(b.images, r)
		}
	}
	for i := range p.Blocks {
		block := &p.Blocks[i]
		b.imagesBefore(i, block.Start)
		if b.keep[i] && block.Start >= b.done {
			b.block(i)
		}
	}
	b.endCode()
	b.imagesBefore(len(p.Blocks), int32(len(p.Text))+1)
}

// builder builds the parts of a page, block by block.
type builder struct {
	page      *hypertext.Page
	keep      []bool
	resolve   func(string) string
	parts     []Part
	fragments map[int32]string // fragments that lead to headings, by the index of the heading's element

	marks  []mark // links, emphasis and code (see mark) that begin in the current block or after it
	open   []mark // links, emphasis and code that began before the current block and reach into it
	images []*hypertext.Reference
	// offset in the page's text at which the last of those tables ends that became parts (see Part)
	done     int32
	tables   map[int32]bool      // whether a table holds data and is not only for layout, by the index of the table element
	lists    map[int32]itemCount // number of items of a list so far, by the index of the list element
	begun    map[int32]bool      // indexes of the li elements that have a part already
	figures  map[int32]bool      // indexes of the figure elements that were searched for a caption
	captions map[int32]bool      // indexes of the figcaption elements that became the caption of an image part
	code     int32               // index of the element of the last code block
	codePart int                 // part for the last code block, as an index in parts
	lines    strings.Builder     // text of the last code block so far
	steps    int                 // amount of work, for tests: number of elements and links looked at
}

// itemCount is the number of items of a list that have been counted so far.
type itemCount struct {
	next  int32 // child of the list at which counting goes on, as an index in Page.Elements; 0: nothing counted yet
	items int
}

// place describes the elements around a block.
type place struct {
	// heading: level of the heading around the block, or 0
	// list, quote: how many lists and how many quotes are around the block
	heading, list, quote   int
	title                  int32 // index of the heading's element
	item, table, code      int32 // indexes of the block's innermost li, table and code element; 0: none
	term, definition       bool
	caption                int32
	language               string
	insideTable, numbering bool
}

func (b *builder) placeOf(at int32) (in place) {
	for ; at > 0; at = b.page.Elements[at].Parent {
		b.steps++
		e := &b.page.Elements[at]
		if in.language == "" {
			in.language = b.page.Languages[at]
		}
		switch e.Name {
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			in.heading, in.title = int(e.Name.String()[1]-'0'), at
		case atom.Pre, atom.Xmp, atom.Listing:
			in.code = at
		case atom.Li:
			if in.item == 0 && !in.insideTable {
				in.item = at
			}
		case atom.Ul, atom.Ol, atom.Menu:
			if in.item != 0 && b.page.Elements[in.item].Parent == at {
				in.numbering = e.Name == atom.Ol
			}
			in.list++
		case atom.Dt:
			in.term = !in.definition
		case atom.Dd:
			in.definition = !in.term
		case atom.Blockquote:
			in.quote++
		case atom.Figcaption:
			in.caption = at
		case atom.Td, atom.Th:
			in.insideTable = true
		case atom.Table:
			if in.table == 0 {
				in.table = at
			}
		}
	}
	return in
}

func (b *builder) block(i int) {
	block := &b.page.Blocks[i]
	in := b.placeOf(block.Element)
	if in.caption != 0 && b.captions[in.caption] {
		return
	}
	if in.table != 0 && b.isData(in.table, i) {
		b.table(i, in)
		return
	}
	part := Part{Kind: Paragraph, List: in.list, Quote: in.quote}
	switch {
	case in.code != 0:
		part.Kind, part.Language = Code, cmp.Or(in.language, b.page.Languages[in.code+1]) // pre, or code in it
		b.addCode(part, in.code, block)
		return
	case in.heading != 0:
		part.Kind, part.Level, part.List = Heading, in.heading, 0
		part.Fragment = b.fragments[in.title]
	case in.item != 0 && !b.begun[in.item]:
		b.begun[in.item] = true
		part.Kind = Item
		if in.numbering {
			part.Ordinal = b.ordinal(in.item)
		}
	case in.term:
		part.Kind = Term
	case in.definition:
		part.Kind = Definition
	}
	part.Text, part.marked, part.Links = b.textOf(block)
	b.parts = append(b.parts, part)
}

// addCode adds a block of code. If the last part is code of the same element, the block continues
// this part; else it begins a new part.
func (b *builder) addCode(part Part, element int32, block *hypertext.Block) {
	if n := len(b.parts); n > 0 && n-1 == b.codePart && element == b.code {
		b.lines.WriteByte('\n')
	} else {
		b.endCode()
		b.code, b.codePart = element, n
		b.parts = append(b.parts, part)
	}
	b.lines.Write(b.page.Text[block.Start:block.End])
}

// endCode stores the collected lines of code as the text of the last code part. It is called when
// this part is complete: at the next code part, and at the end of the page.
func (b *builder) endCode() {
	if b.lines.Len() > 0 {
		b.parts[b.codePart].Text = b.lines.String()
		b.lines.Reset()
	}
}

// textOf returns the text of a block as plain text and in Markdown, and its links.
func (b *builder) textOf(block *hypertext.Block) (plain, marked string, links []Link) {
	start, end := int(block.Start), int(block.End)
	marks := innermostLink(b.within(start, end), start, end)
	for _, m := range marks {
		if m.address == "" {
			continue
		}
		text := strings.TrimSpace(string(b.page.Text[max(start, m.start):min(end, m.end)]))
		links = append(links, Link{m.address, strings.Join(strings.Fields(text), " ")})
	}
	w := inline{text: b.page.Text}
	w.write(start, end, marks)
	b.steps += w.steps + len(marks)
	return string(b.page.Text[start:end]), w.out.String(), links
}

// ordinal returns the number of an item in its list, from 1 on.
func (b *builder) ordinal(item int32) int {
	all := b.page.Elements
	list := all[item].Parent
	count := b.lists[list]
	if count.next == 0 {
		count.next = list + 1
	}
	for ; count.next <= item; count.next = all[count.next].Last {
		b.steps++
		if all[count.next].Name == atom.Li {
			count.items++
		}
	}
	b.lists[list] = count
	return max(1, count.items)
}

// isData reports whether a table holds data, and is not for the layout of a page. It must have
//
//	at least two rows, one of them with at least two cells
//	no table, heading, quotation, form or preformatted text inside of it
//	no text outside of its cells and caption
//
// The parameter first is the index of the first block in the table for which the field keep is true.
func (b *builder) isData(table int32, first int) bool {
	known, found := b.tables[table]
	if found {
		return known
	}
	all := b.page.Elements
	rows, cells, most := 0, 0, 0
	plain := true
	for i := table + 1; i < all[table].Last && plain; i++ {
		b.steps++
		switch all[i].Name {
		case atom.Tr:
			rows++
			cells = 0
		case atom.Td, atom.Th:
			cells++
			most = max(most, cells)
		case atom.Table, atom.Pre, atom.H1, atom.H2, atom.H3, atom.H4, atom.Blockquote, atom.Form:
			plain = false
		}
	}
	for i := first; i < len(b.page.Blocks) && b.page.Blocks[i].Start < all[table].End && plain; i++ {
		at := b.page.Blocks[i].Element
		for at > table && all[at].Name != atom.Td && all[at].Name != atom.Th && all[at].Name != atom.Caption {
			b.steps++
			at = all[at].Parent
		}
		plain = at > table
	}
	known = plain && rows >= 2 && most >= 2
	b.tables[table] = known
	return known
}

// table adds a part for a table: its caption, and the text of its cells by rows. The parameter first
// is the index of the table's first block, and the parameter in describes the elements around this
// block.
func (b *builder) table(first int, in place) {
	all := b.page.Elements
	end := all[in.table].Last
	part := Part{Kind: Table, List: in.list, Quote: in.quote}
	var plain, marked []string
	blocks := b.page.Blocks[first:]
	row := in.table
	flush := func() {
		if len(plain) > 0 {
			part.Rows, part.cells = append(part.Rows, plain), append(part.cells, marked)
		}
		plain, marked = nil, nil
	}
	for i := in.table + 1; i < end; i++ {
		b.steps++
		switch all[i].Name {
		case atom.Tr:
			flush()
			row = i
		case atom.Td, atom.Th:
			if all[i].Parent != row {
				continue
			}
			var texts, inMarkdown []string
			for len(blocks) > 0 && blocks[0].Element < all[i].Last {
				if b.keep[len(b.page.Blocks)-len(blocks)] && blocks[0].Element >= i {
					text, markdown, links := b.textOf(&blocks[0])
					texts, inMarkdown = append(texts, text), append(inMarkdown, markdown)
					part.Links = append(part.Links, links...)
				}
				blocks = blocks[1:]
			}
			plain, marked = append(plain, strings.Join(texts, "\n")), append(marked, strings.Join(inMarkdown, "\n"))
		case atom.Caption:
			for len(blocks) > 0 && blocks[0].Element < all[i].Last {
				part.Caption = string(b.page.Text[blocks[0].Start:blocks[0].End])
				blocks = blocks[1:]
			}
		}
	}
	flush()
	b.done = all[in.table].End
	b.parts = append(b.parts, part)
}

// imagesBefore adds a part for each image that has no part yet and begins before the given offset.
// At this offset the given block begins. The images are dropped if neither this block nor the block
// before it is kept.
func (b *builder) imagesBefore(block int, start int32) {
	for ; len(b.images) > 0 && b.images[0].Start < start; b.images = b.images[1:] {
		r := b.images[0]
		kept := block < len(b.keep) && b.keep[block] || block > 0 && b.keep[block-1]
		address := b.resolve(r.Address)
		if !kept || address == "" || r.Start < b.done {
			continue
		}
		part := Part{Kind: Image, Text: strings.Join(strings.Fields(r.Alt), " "), Address: address}
		for at := b.page.Elements[r.Element].Parent; at > 0; at = b.page.Elements[at].Parent {
			b.steps++
			if b.page.Elements[at].Name == atom.Figure {
				part.Caption = b.captionOf(at)
				break
			}
		}
		b.parts = append(b.parts, part)
	}
}

// captionOf returns the caption of a figure, but only in the first call for this figure; later
// calls return "". So only the first image of a figure gets the caption. The caption is noted in
// b.captions, so that it does not become a paragraph, too.
func (b *builder) captionOf(figure int32) string {
	if b.figures[figure] {
		return ""
	}
	b.figures[figure] = true
	all := b.page.Elements
	for i := figure + 1; i < all[figure].Last; i++ {
		b.steps++
		if all[i].Name == atom.Figcaption && !b.captions[i] {
			b.captions[i] = true
			return strings.Join(strings.Fields(string(b.page.Text[all[i].Start:all[i].End])), " ")
		}
	}
	return ""
}
