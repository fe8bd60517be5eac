package document

import (
	"bytes"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/mainpart"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Content is the part of a page that the index keeps.
type Content struct {
	Title    string
	Headings []string
	Body     string // text of the main part, its blocks separated by line feeds, at most MaxBody bytes
	Outside  string // text outside of the main part, its blocks separated by line feeds, without links of navigation, at most MaxBody bytes
	Lang     string // primary subtag of the declared language, or ""

	// Emphasis has the ranges of Body that are bold, italic, marked or underlined. Large has those
	// that are headings or in larger type. Each list is in the order of Body, and has at most
	// MaxRanges. Both are kept because browsers show such text differently from the text around it
	// (Brin, Page 1998, 4.2.5).
	Emphasis []layout.Span
	Large    []layout.Span // ranges of Body that are headings, or in larger type

	Sections []segment.Section // sections of Body that have addresses of their own
	Entries  []segment.Entry   // entries of lists of terms in Body that have addresses of their own

	Blocks []Block // blocks of the whole page, in the order of its text; nil for plain text

	Main []bool // for each block of the page, in the order of its text, whether the block belongs to the main part
}

// NameOf returns the last part of an address, such as "report.pdf". It serves as the title of a
// page without one.
func NameOf(url string) string {
	url, _, _ = strings.Cut(url, "?")
	return cut(path.Base(url), MaxTitle)
}

// Content returns the part of the page that the index keeps.
func (d *Document) Content() Content {
	if d.plain != "" {
		return Content{Title: d.Title, Body: d.plain, Lang: d.Lang}
	}
	return d.contentOf(d.main())
}

// contentOf returns the content of the page. The blocks for which kept is true are its main part.
// The text of the other blocks becomes Content.Outside, or is dropped if the parameter all is true.
func (d *Document) contentOf(kept []bool, all bool) Content {
	body, told := d.passageOf(kept), d.told()
	size := len(body.text)
	inBody := told.exceeds(body)
	if inBody {
		body.addLines(told)
	}
	body = body.trim(MaxBody)
	headings, elements := d.headings()
	c := Content{
		Title: d.Title, Lang: d.Lang, Body: string(body.text), Headings: headings,
		Emphasis: body.find(d.spansOf(isEmphasis)), Large: body.find(d.spansOf(isLarge)),
		Blocks: d.blocks(kept, len(body.text), elements), Main: kept,
	}
	c.Sections, c.Entries = d.sections(elements, c.Blocks), d.entries(c.Blocks, len(c.Body))
	var outside passage
	if !all {
		outside = d.outside(kept)
	}
	if inBody {
		c.Blocks = append(c.Blocks, told.blocks(size, len(body.text))...)
	} else {
		outside.addLines(told)
	}
	c.Outside = cut(string(outside.text), MaxBody)
	return c
}

// outside returns the text that the page shows outside of the main part. The parameter main says
// for each block whether it belongs to the main part. The function outside leaves out blocks of
// navigation that are mostly text of links, because that text is indexed with the pages to which
// the links lead.
func (d *Document) outside(main []bool) passage {
	rest := make([]bool, len(main))
	for i := range rest {
		b := &d.page.Blocks[i]
		rest[i] = !main[i] && b.Flags&(hypertext.Hidden|hypertext.NoScript) == 0 &&
			(b.Flags&hypertext.Navigation == 0 || 2*b.Linked < b.End-b.Start)
	}
	return d.passageOf(rest)
}

// main returns for every block whether it belongs to the main part. Usually package mainpart finds
// this part, and hidden blocks are left out of it. If no block is left, or if the page was
// converted from another format, the main part is everything that the page shows. Then the second
// result is true.
func (d *Document) main() (kept []bool, all bool) {
	if !d.converted {
		kept = mainpart.Find(d.page, d.data)
		for i := range kept {
			kept[i] = kept[i] && d.page.Blocks[i].Flags&hypertext.Hidden == 0
		}
		if slices.Contains(kept, true) {
			return kept, false
		}
	}
	return d.shown(), true
}

// shown returns for every block whether its text counts as shown by the page. That depends on how
// much text the page shows outside of navigation:
//
//	text outside of navigation                  blocks that count
//	at least a tenth of the page's text         those shown outside of navigation
//	less, and some blocks are not hidden        all that are not hidden
//	less, and all blocks are hidden             all: a script shows them
func (d *Document) shown() []bool {
	shown, size := d.blocksWithout(hypertext.Navigation | hypertext.Hidden | hypertext.NoScript)
	if size*10 >= len(d.page.Text) {
		return shown
	}
	if shown, size = d.blocksWithout(hypertext.Hidden); size == 0 {
		shown, _ = d.blocksWithout(0)
	}
	return shown
}

// blocksWithout returns for every block whether it has none of the flags. It also returns the total
// size in bytes of the blocks without these flags.
func (d *Document) blocksWithout(flags hypertext.Flags) (chosen []bool, size int) {
	chosen = make([]bool, len(d.page.Blocks))
	for i := range chosen {
		b := &d.page.Blocks[i]
		if chosen[i] = b.Flags&flags == 0; chosen[i] {
			size += int(b.End - b.Start)
		}
	}
	return chosen, size
}

// Visible returns the text that the page shows, and after it the content that the page has only in
// its JSON-LD. It leaves out navigation, unless the page shows little else (see the method shown).
// Digest is computed from this text.
func (d *Document) Visible() string {
	if d.plain != "" {
		return d.plain
	}
	return string(d.visible())
}

// visible returns the result of Visible for a page with markup, as bytes.
func (d *Document) visible() []byte {
	shown := d.passageOf(d.shown())
	shown.addLines(d.told())
	return shown.text
}

// headings returns the texts of the page's headings that are not in navigation, at most MaxHeadings. The result
// elements has, for each of them, the index of its element in hypertext.Page.Elements.
func (d *Document) headings() (texts []string, elements []int32) {
	for i := range d.page.Elements {
		e := &d.page.Elements[i]
		if !hypertext.IsHeading(e.Name) || e.Flags&(hypertext.Navigation|hypertext.Hidden) != 0 {
			continue
		}
		if text := d.textOf(e); text != "" {
			elements = append(elements, int32(i))
			if texts = append(texts, text); len(texts) == MaxHeadings {
				break
			}
		}
	}
	return texts, elements
}

// textOf returns the text of an element, with single spaces between its words, at most
// MaxTitle bytes.
func (d *Document) textOf(e *hypertext.Element) string { return d.label(e.Start, e.End, MaxTitle) }

// label returns the text between two offsets in the page's text, with single spaces between its
// words, cut to size bytes. It reads at most 4×size bytes. Otherwise it would take too long on a
// hostile page with thousands of nested elements, each of which has the whole text inside.
func (d *Document) label(start, end int32, size int) string {
	return cut(joinWords(cut(string(d.page.Text[start:min(end, start+int32(4*size)+1)]), 4*size)), size)
}

// passage is the text of some blocks of a page, with each block on a line of its own.
type passage struct {
	text  []byte
	parts []layout.Span // for each block of the passage, its range in the page's text
}

// passageOf returns the passage of the blocks for which kept is true.
func (d *Document) passageOf(kept []bool) passage {
	size, blocks := 0, 0
	for i := range d.page.Blocks {
		if kept[i] {
			size += int(d.page.Blocks[i].End-d.page.Blocks[i].Start) + 1
			blocks++
		}
	}
	p := passage{text: make([]byte, 0, size), parts: make([]layout.Span, 0, blocks)}
	for i := range d.page.Blocks {
		b := &d.page.Blocks[i]
		if !kept[i] {
			continue
		}
		if len(p.parts) > 0 {
			p.text = append(p.text, '\n')
		}
		p.text = append(p.text, d.page.Text[b.Start:b.End]...)
		p.parts = append(p.parts, layout.Span{Start: int(b.Start), End: int(b.End)})
	}
	return p
}

// addLines appends lines to the passage that are not from the page's text but, for example, from
// its JSON-LD. So they have no ranges in the page's text, and the field parts is not changed.
func (p *passage) addLines(lines []string) {
	for _, line := range lines {
		if len(p.text) > 0 {
			p.text = append(p.text, '\n')
		}
		p.text = append(p.text, line...)
	}
}

// trim cuts the passage to n bytes.
func (p passage) trim(n int) passage {
	if len(p.text) > n {
		p.text = []byte(cut(string(p.text), n))
	}
	return p
}

// find converts ranges of the page's text into ranges of the passage's text. The passage has only
// some blocks of the page. Each range is divided at the ends of blocks, and its parts in blocks
// that the passage lacks are left out. The given ranges must be in the order of the page's text.
// The result has at most MaxRanges ranges.
func (p passage) find(ranges []layout.Span) []layout.Span {
	var found []layout.Span
	at := 0
	for _, part := range p.parts {
		for len(ranges) > 0 && ranges[0].End <= part.Start {
			ranges = ranges[1:]
		}
		for _, r := range ranges {
			if r.Start >= part.End || len(found) == MaxRanges {
				break
			}
			start, end := at+max(r.Start, part.Start)-part.Start, at+min(r.End, part.End)-part.Start
			if end = min(end, len(p.text)); start < end {
				found = append(found, layout.Span{Start: start, End: end})
			}
		}
		at += part.End - part.Start + 1
	}
	return found
}

// spansOf returns the ranges that certain elements have in the page's text. The given function
// chooses the elements by their names. If such elements are nested, only the outermost one has a
// range. The ranges are in the order of the text, and have no white space at their beginning.
func (d *Document) spansOf(is func(atom.Atom) bool) (ranges []layout.Span) {
	all := d.page.Elements
	for i := int32(0); int(i) < len(all); {
		e := &all[i]
		if !is(e.Name) {
			i++
			continue
		}
		text := d.page.Text[e.Start:e.End]
		start := int(e.Start) + len(text) - len(bytes.TrimLeftFunc(text, unicode.IsSpace))
		if start < int(e.End) {
			ranges = append(ranges, layout.Span{Start: start, End: int(e.End)})
		}
		i = e.Last
	}
	return ranges
}

// isEmphasis reports whether browsers show elements with the given name in bold, italic, marked or
// underlined type (WHATWG HTML, 15.3).
func isEmphasis(name atom.Atom) bool {
	switch name {
	case atom.B, atom.Strong, atom.Em, atom.I, atom.Mark, atom.U, atom.Dfn:
		return true
	}
	return false
}

// isLarge reports whether browsers show elements with the given name in larger type (WHATWG HTML,
// 15.3).
func isLarge(name atom.Atom) bool { return name == atom.Big || hypertext.IsHeading(name) }

// Digest returns the digest of the title and of the text that Visible returns.
func (d *Document) Digest() fingerprint.Digest {
	return fingerprint.DigestOf([]byte(d.Title), d.pieces())
}

// pieces yields the text that Visible returns, in pieces of one line or several. Nothing is copied.
func (d *Document) pieces() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if d.plain != "" {
			yield([]byte(d.plain))
			return
		}
		for i, shown := range d.shown() {
			if b := &d.page.Blocks[i]; shown && !yield(d.page.Text[b.Start:b.End]) {
				return
			}
		}
		for _, line := range d.told() {
			if !yield([]byte(line)) {
				return
			}
		}
	}
}
