package markup

import (
	"bytes"
	"encoding/binary"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// MaxBytes is the size in bytes of a body's HTML at which a Writer begins to ignore text.
const MaxBytes = 4 << 20

// Page is a document of another format that was converted to HTML.
type Page struct {
	HTML    []byte
	Omitted []string // parts that are left out because of a limit: "pages 501 to 950"
}

// Omit notes in Omitted that the named part was left out. It notes each part once.
func (p *Page) Omit(what string) {
	if !slices.Contains(p.Omitted, what) {
		p.Omitted = append(p.Omitted, what)
	}
}

// Writer writes the body of a page. The zero value has an empty body. The methods may be
// called in any order: open headings and links are closed where needed.
type Writer struct {
	Modified string // time of the last change, as the document's properties have it; "" if it is not known

	body    bytes.Buffer
	heading int  // level of the open heading, or 0
	line    bool // whether the current line has text already
	link    bool // whether a link is open
}

// Full reports whether the body has reached MaxBytes, so that more text is ignored.
func (w *Writer) Full() bool { return w.body.Len() >= MaxBytes }

// Break begins a new line.
func (w *Writer) Break() {
	w.EndLink()
	switch {
	case w.heading > 0:
		w.body.WriteString("</h" + strconv.Itoa(w.heading) + ">\n")
		w.heading = 0
	case w.line && !w.Full():
		w.body.WriteString("<br>\n")
	}
	w.line = false
}

// Heading begins a new line, which is a heading until the next Break. A level below 1
// becomes 1, one above 6 becomes 6.
func (w *Writer) Heading(level int) {
	w.Break()
	if w.Full() {
		return
	}
	w.heading = min(max(level, 1), 6)
	w.body.WriteString("<h" + strconv.Itoa(w.heading) + ">")
}

// Text writes text, escaped. As in HTML, a line feed in it is only white space: only Break ends a
// line.
func (w *Writer) Text(text string) {
	if !w.Full() && text != "" {
		w.line = true
		text = text[:min(len(text), MaxBytes)]
		w.body.WriteString(html.EscapeString(strings.ToValidUTF8(text, "\uFFFD")))
	}
}

// Link ends the open link, if there is one, and begins a link to reference. The new link ends at
// EndLink or at the end of the line. If reference is empty, Link begins none.
func (w *Writer) Link(reference string) {
	w.EndLink()
	if reference == "" || w.Full() {
		return
	}
	w.link = true
	w.body.WriteString(`<a href="`)
	w.Text(reference)
	w.body.WriteString(`">`)
}

// EndLink ends the open link, if there is one.
func (w *Writer) EndLink() {
	if w.link {
		w.link = false
		w.body.WriteString("</a>")
	}
}

// Page ends the body and returns the whole page: the body within a main element, with a title and
// a language.
func (w *Writer) Page(title, language string) Page {
	w.Break()
	var page bytes.Buffer
	page.WriteString(`<!doctype html><html lang="` + html.EscapeString(language) + `"><head><title>`)
	page.WriteString(html.EscapeString(strings.ToValidUTF8(title, "\uFFFD")))
	page.WriteString("</title>")
	if w.Modified != "" {
		page.WriteString(`<meta name="last-modified" content="` + html.EscapeString(strings.ToValidUTF8(w.Modified, "\uFFFD")) + `">`)
	}
	page.WriteString("</head><body><main>\n")
	page.Write(w.body.Bytes())
	page.WriteString("</main></body></html>\n")
	p := Page{HTML: page.Bytes()}
	if w.Full() {
		p.Omit("text beyond " + strconv.Itoa(MaxBytes>>20) + " MiB")
	}
	return p
}

// UTF16 decodes UTF-16, little-endian.
func UTF16(b []byte) string {
	u := make([]uint16, len(b)/2)
	for i := range u {
		u[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(u))
}
