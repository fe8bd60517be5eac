package document

import (
	"bytes"
	"path"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/mainpart"
	"github.com/bucketsearch/bucketsearch/layout"
)

// Content is the part of a page that the index keeps.
type Content struct {
	Title    string
	Headings []string
	Body     string // lines of the main part, at most MaxBody bytes
	Outside  string // lines outside of the main part and of navigation, at most MaxBody bytes
	Lang     string // primary subtag, or "" if the page does not tell

	// Where the body looks unlike the text around it (Brin, Page 1998, 4.2.5): in
	// order, at most MaxRanges each.
	Emphasis []layout.Span // bold, italic, marked or underlined
	Large    []layout.Span // headings and larger type
}

// NameOf returns the last part of an address, the name of a page without a title.
func NameOf(url string) string {
	url, _, _ = strings.Cut(url, "?")
	return cut(path.Base(url), MaxTitle)
}

// Content returns the part of the page that the index keeps.
func (d *Document) Content() Content {
	if d.plain != "" {
		return Content{Title: d.Title, Body: d.plain, Lang: guess(d.plain)}
	}
	body, outside := d.body()
	body = body.trim(MaxBody)
	c := Content{
		Title: d.Title, Lang: d.Lang, Body: string(body.text), Outside: cut(string(outside.text), MaxBody),
		Emphasis: body.find(d.unlike(isEmphasis)), Large: body.find(d.unlike(isLarge)), Headings: d.headings(),
	}
	set(&c.Lang, guess(c.Body))
	return c
}

// body returns the main part of the page, and the rest of the text that it shows
// outside of navigation. The main part is all of that text when nothing else is
// found, or the page was made from a document of another format.
func (d *Document) body() (main, outside passage) {
	if d.converted {
		return d.visible(), passage{}
	}
	found := mainpart.Find(d.page)
	main = d.passageOf(func(i int, _ *hypertext.Block) bool { return found[i] })
	if len(main.text) == 0 {
		return d.visible(), passage{}
	}
	return main, d.passageOf(func(i int, b *hypertext.Block) bool { return !found[i] && isVisible(b) })
}

// isVisible reports whether a page shows a block outside of navigation.
func isVisible(b *hypertext.Block) bool {
	return b.Flags&(hypertext.Navigation|hypertext.Hidden|hypertext.NoScript) == 0
}

// visible returns the text that the page shows outside of navigation, or all of its
// text if that is hardly anything.
func (d *Document) visible() passage {
	visible := d.passageOf(func(_ int, b *hypertext.Block) bool { return isVisible(b) })
	if len(visible.text)*10 < len(d.page.Text) {
		return d.passageOf(func(int, *hypertext.Block) bool { return true })
	}
	return visible
}

// Visible returns the text that the page shows outside of navigation, from which
// Digest is computed, or all of its text if that is hardly anything.
func (d *Document) Visible() string {
	if d.plain != "" {
		return d.plain
	}
	return string(d.visible().text)
}

// headings returns the texts of the page's headings outside of navigation.
func (d *Document) headings() (texts []string) {
	for i := range d.page.Elements {
		e := &d.page.Elements[i]
		if !isHeading(e.Name) || e.Flags&(hypertext.Navigation|hypertext.Hidden) != 0 {
			continue
		}
		if text := d.textOf(e); text != "" {
			if texts = append(texts, text); len(texts) == MaxHeadings {
				break
			}
		}
	}
	return texts
}

func (d *Document) textOf(e *hypertext.Element) string {
	return cut(fold(string(d.page.Text[e.Start:e.End])), MaxTitle)
}

// passage is some blocks of a page, one a line.
type passage struct {
	text  []byte
	parts []layout.Span // of the page's text, in order; a line feed lies between two
}

// passageOf returns the blocks for which keep returns true.
func (d *Document) passageOf(keep func(i int, b *hypertext.Block) bool) passage {
	var p passage
	for i := range d.page.Blocks {
		b := &d.page.Blocks[i]
		if !keep(i, b) {
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

// trim cuts the passage to n bytes.
func (p passage) trim(n int) passage {
	p.text = []byte(cut(string(p.text), n))
	return p
}

// find returns the places in the passage of ranges of the page's text, which are
// in order.
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

// unlike returns the texts of the outermost elements whose names satisfy is.
func (d *Document) unlike(is func(atom.Atom) bool) (ranges []layout.Span) {
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

// isEmphasis and isLarge report how browsers show an element (WHATWG HTML, 15.3).
func isEmphasis(name atom.Atom) bool {
	switch name {
	case atom.B, atom.Strong, atom.Em, atom.I, atom.Mark, atom.U, atom.Dfn:
		return true
	}
	return false
}

func isLarge(name atom.Atom) bool { return name == atom.Big || isHeading(name) }

func isHeading(name atom.Atom) bool {
	switch name {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

// Digest returns the digest of the title and of the text that the page shows outside of
// navigation.
func (d *Document) Digest() fingerprint.Digest {
	text := []byte(d.plain)
	if d.plain == "" {
		text = d.visible().text
	}
	return fingerprint.DigestOf([]byte(d.Title), text)
}
