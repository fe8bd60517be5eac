package pdf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// html converts the document to HTML. Each line that is a heading (see the function heading) stays
// alone. The lines of a page between two headings are joined to one paragraph.
func (d *pdfDocument) html() markup.Page {
	var w markup.Writer
	body := d.bodySize()
	links := d.links
	page := 0
	for _, l := range d.lines {
		if l.page != page {
			page = l.page
			w.Break()
		}
		for len(links) > 0 && links[0].page < page {
			links = links[1:]
		}
		text, entry := withoutLeaders(l.text)
		if !entry && heading(text, l.size, body) {
			w.Heading(level(l.size, body))
			w.Text(text)
			w.Break()
			continue
		}
		links = writeLine(&w, text, links, page)
	}
	w.Modified = d.modified
	p := w.Page(d.name(body), "")
	if d.read < d.pages {
		cut := fmt.Sprintf("pages %d to %d", d.read+1, d.pages)
		if d.end != nil {
			cut += ", since " + d.end.Error()
		}
		p.Omit(cut)
	}
	if d.dense {
		p.Omit(fmt.Sprintf("links beyond %d of a page", maxLinks))
	}
	return p
}

// withoutLeaders removes the dots before the page number in an entry of a table of contents, and
// reports whether the line is such an entry: "Use . . . 7" becomes "Use 7".
func withoutLeaders(text string) (line string, entry bool) {
	if !strings.Contains(text, ". . .") {
		return strings.TrimSpace(text), false
	}
	words := slices.DeleteFunc(strings.Fields(text), func(word string) bool { return word == "." })
	return strings.Join(words, " "), true
}

// bodySize returns the type size in which most of the text is set, in tenths of a point.
func (d *pdfDocument) bodySize() int {
	sizes := map[int]int{}
	most := 0
	for _, l := range d.lines {
		sizes[l.size] += len(l.text)
		if n := sizes[l.size]; n > sizes[most] || n == sizes[most] && l.size < most {
			most = l.size
		}
	}
	return most
}

// heading reports whether a line is a heading: it is short, and its type size is at least a
// sixth larger than that of the body.
func heading(text string, size, body int) bool {
	return size*6 >= body*7 && 0 < len(text) && len(text) <= 200 && body > 0
}

func level(size, body int) int {
	switch {
	case size*2 >= body*3:
		return 1
	case size*4 >= body*5:
		return 2
	}
	return 3
}

// writeLine writes a line of text with its links. The parameter page is the number of the page that
// has the line, from 0 on. The parameter links has those links of the file that are not written
// yet, in order. writeLine returns the links that come after this line. It writes a space after the
// line, unless a hyphen divides the last word: then the next line continues the word.
func writeLine(w *markup.Writer, text string, links []linkArea, page int) []linkArea {
	for len(links) > 0 && links[0].page == page && links[0].text != "" {
		before, after, found := strings.Cut(text, links[0].text)
		if !found {
			break
		}
		writeText(w, before)
		w.Link(links[0].address)
		writeText(w, links[0].text)
		w.EndLink()
		text, links = after, links[1:]
	}
	writeText(w, text)
	if !strings.HasSuffix(text, hyphen) {
		w.Text(" ")
	}
	return links
}

// hyphen is the character that PDFium returns for the hyphen of a word divided at a line's end.
const hyphen = "\uFFFE"

func writeText(w *markup.Writer, text string) { w.Text(strings.ReplaceAll(text, hyphen, "")) }

// name returns the title of the file: the title in its properties or, if this is empty or useless
// ("untitled"), the lines in the largest type of its first page. The parameter is the type size in
// which most of the file's text is set (see bodySize).
func (d *pdfDocument) name(body int) string {
	title := strings.Join(strings.Fields(d.title), " ")
	lower := strings.ToLower(title)
	for _, useless := range []string{"untitled", "microsoft word - ", "microsoft powerpoint - "} {
		if strings.HasPrefix(lower, useless) {
			title = ""
		}
	}
	if title != "" {
		return title
	}
	largest := body
	for _, l := range d.lines {
		if l.page == 0 && heading(l.text, l.size, body) {
			largest = max(largest, l.size)
		}
	}
	var lines []string
	for _, l := range d.lines {
		if l.page == 0 && l.size == largest && largest > body {
			lines = append(lines, strings.Fields(l.text)...)
		}
	}
	return strings.Join(lines, " ")
}
