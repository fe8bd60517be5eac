package structured

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
)

// mark is a range of the text that is a link, emphasis or code.
type mark struct {
	start, end int    // byte range in the page's text
	around     string // Markdown delimiter before and after the mark, such as **; "" for a link
	address    string // URL of a link; "" for emphasis or code
}

// marksOf returns the links, emphasis and code of a page, ordered by their start, outer before
// inner ones.
func marksOf(p *hypertext.Page, resolve func(string) string) (marks []mark) {
	references := p.References
	for i := range p.Elements {
		e := &p.Elements[i]
		for len(references) > 0 && references[0].Element < int32(i) {
			references = references[1:]
		}
		m := mark{start: int(e.Start), end: int(e.End)}
		switch e.Name {
		case atom.A:
			if len(references) == 0 || references[0].Element != int32(i) {
				continue
			}
			m.address = resolve(references[0].Address)
		case atom.B, atom.Strong:
			m.around = "**"
		case atom.I, atom.Em:
			m.around = "*"
		case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
			m.around = "`"
		}
		if m.start < m.end && m.address+m.around != "" {
			marks = append(marks, m)
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return a.start - b.start })
	return marks
}

// within returns the marks (links, emphasis and code) that overlap text[start:end]. It drops all
// marks that end before this range. So the ranges of its calls must be in the order of the text.
func (b *builder) within(start, end int) []mark {
	b.open = slices.DeleteFunc(b.open, func(m mark) bool { return m.end <= start })
	for len(b.marks) > 0 && b.marks[0].start < end {
		if b.marks[0].end > start {
			b.open = append(b.open, b.marks[0])
		}
		b.marks = b.marks[1:]
	}
	return b.open
}

// innermostLink removes links from the marks (links, emphasis and code). If several links enclose
// text[start:end], only the innermost one stays, because Markdown has no links in links. All other
// marks stay.
func innermostLink(marks []mark, start, end int) []mark {
	isAround := func(m mark) bool { return m.address != "" && m.start <= start && end <= m.end }
	last := -1
	around := 0
	for i, m := range marks {
		if isAround(m) {
			last = i
			around++
		}
	}
	if around < 2 {
		return marks
	}
	kept := make([]mark, 0, len(marks))
	for i, m := range marks {
		if !isAround(m) || i == last {
			kept = append(kept, m)
		}
	}
	return kept
}

// inline writes a piece of a page's text in Markdown, with its links, emphasis and code.
type inline struct {
	text   []byte
	out    strings.Builder
	active []string // Markdown delimiters of the marks that are open: "**", "_"
	steps  int      // amount of work, for tests: number of links and ranges of emphasis looked at
}

// write writes text[start:end] in Markdown. marks are the links, emphasis and code in it.
func (w *inline) write(start, end int, marks []mark) {
	for i := 0; i < len(marks); {
		m := w.clip(marks[i], start, end)
		inner := i + 1
		w.steps++
		for inner < len(marks) && marks[inner].start < m.end {
			w.steps++
			inner++
		}
		if m.start < m.end {
			w.escape(w.text[start:m.start])
			w.mark(m, marks[i+1:inner])
			start = m.end
		} else {
			inner = i + 1
		}
		i = inner
	}
	w.escape(w.text[start:end])
}

// clip returns the part of the mark m (a link, emphasis or code) between two offsets, without white
// space at its ends.
func (w *inline) clip(m mark, start, end int) mark {
	m.start, m.end = max(m.start, start), min(m.end, end)
	for m.start < m.end && isSpace(w.text[m.start]) {
		m.start++
	}
	for m.start < m.end && isSpace(w.text[m.end-1]) {
		m.end--
	}
	return m
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

func (w *inline) mark(m mark, inner []mark) {
	if m.around == "`" {
		w.code(string(w.text[m.start:m.end]))
		return
	}
	if slices.Contains(w.active, m.around) {
		w.write(m.start, m.end, inner)
		return
	}
	w.active = append(w.active, m.around)
	if m.address == "" {
		w.out.WriteString(m.around)
		w.write(m.start, m.end, inner)
		w.out.WriteString(m.around)
	} else {
		w.out.WriteByte('[')
		w.write(m.start, m.end, inner)
		w.out.WriteString("](" + destination(m.address) + ")")
	}
	w.active = w.active[:len(w.active)-1]
}

// code writes code between two equal fences of backticks. A fence has more backticks than any run
// of backticks in the code (CommonMark 0.31, 6.1).
func (w *inline) code(text string) {
	text = strings.ReplaceAll(text, "\n", " ")
	fence := fenceFor(text, 1)
	pad := ""
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		pad = " "
	}
	w.out.WriteString(fence + pad + text + pad + fence)
}

// fenceFor returns the backticks for a fence around code: at least n of them, and more than any run
// of backticks in the code has.
func fenceFor(text string, n int) string {
	run := 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		run++
		n = max(n, run+1)
	}
	return strings.Repeat("`", n)
}

// destination returns an address in the form of a link's destination in Markdown (CommonMark
// 0.31, 6.3).
func destination(address string) string {
	if strings.ContainsAny(address, " ()<>") {
		return "<" + strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20").Replace(address) + ">"
	}
	return address
}

// escape writes text with backslashes before all characters that would be markup.
func (w *inline) escape(text []byte) {
	for i, c := range text {
		switch c {
		case '\\', '`', '*', '[', ']', '<':
			w.out.WriteByte('\\')
		case '_': // inside a word it is only a character
			if i == 0 || i+1 == len(text) || !isWord(text[i-1]) || !isWord(text[i+1]) {
				w.out.WriteByte('\\')
			}
		}
		w.out.WriteByte(c)
	}
}

func isWord(c byte) bool {
	return c >= 0x80 || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
}
