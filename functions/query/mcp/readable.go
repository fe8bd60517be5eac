package mcp

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
)

// readable is the main part of a page as it is read: Markdown without invisible characters.
type readable struct {
	markdown string
	date     string    // the page's own date, such as 2026-01-31; "" if it is not known
	dropped  int       // number of invisible characters that were dropped
	starts   []int     // offsets in markdown at which blocks begin: paragraphs, items, tables …
	sections []section // sections in the order of the page; each reaches to the next heading of its level or above
}

// span is a range of bytes of the Markdown.
type span struct{ from, to int }

// section is a heading with what belongs to it.
type section struct {
	span
	heading, fragment string
	level             int // 1 to 6; 0 for the whole page
}

// readableOf returns the main part of a stored page. If the page has no text, the error is a request.Failure
// with a sentence for the client.
func readableOf(page engine.Copy) (readable, error) {
	shown, err := engine.Structured(page.Object)
	if errors.Is(err, document.ErrPanic) {
		return readable{}, err
	}
	if err != nil {
		return readable{}, request.Failure{Status: http.StatusUnsupportedMediaType, Sentence: fmt.Sprintf("%s is stored as %.100q and has no text that can be read.", page.URL, page.MIME)}
	}
	markdown, starts := shown.MarkdownParts()
	if strings.TrimSpace(markdown) == "" {
		return readable{}, request.Failure{Status: http.StatusUnsupportedMediaType, Sentence: fmt.Sprintf("%s is stored, but its main part has no text; it may be drawn by scripts.", page.URL)}
	}
	r := readable{date: shown.Date, starts: make([]int, len(starts))}
	var b strings.Builder
	last := 0
	copyTo := func(to int) {
		text, dropped := visible(markdown[last:to])
		b.WriteString(text)
		last, r.dropped = to, r.dropped+dropped
	}
	for i, start := range starts {
		copyTo(start)
		r.starts[i] = b.Len()
	}
	copyTo(len(markdown))
	r.markdown = b.String()
	r.addSections(shown.Parts)
	return r, nil
}

// addSections finds the sections of a page.
func (r *readable) addSections(parts []structured.Part) {
	var open []int // sections that have no end yet
	end := func(level, at int) {
		for len(open) > 0 && r.sections[open[len(open)-1]].level >= level {
			r.sections[open[len(open)-1]].to = at
			open = open[:len(open)-1]
		}
	}
	for i := range parts {
		if p := &parts[i]; p.Kind == structured.Heading {
			end(p.Level, r.starts[i])
			heading, _ := visible(oneLine(p.Text))
			open = append(open, len(r.sections))
			r.sections = append(r.sections, section{span{r.starts[i], 0}, heading, p.Fragment, p.Level})
		}
	}
	end(0, len(r.markdown))
}

func (r *readable) whole() section { return section{span: span{0, len(r.markdown)}} }

// find returns the first section that has the wanted heading, or the wanted fragment if wanted begins with
// #. Upper and lower case are the same in headings. The second result says whether there is such a section.
func (r *readable) find(wanted string) (section, bool) {
	fragment, isFragment := strings.CutPrefix(strings.TrimSpace(wanted), "#")
	heading := oneLine(strings.TrimLeft(wanted, "# "))
	for _, s := range r.sections {
		if isFragment && s.fragment != "" && (s.fragment == fragment || s.fragment == unescaped(fragment)) {
			return s, true
		}
	}
	for _, s := range r.sections {
		if heading != "" && strings.EqualFold(s.heading, heading) {
			return s, true
		}
	}
	return section{}, false
}

// sectionAt returns the innermost section around an offset that has an address of its own (a fragment). If
// there is none, it returns the whole page.
func (r *readable) sectionAt(offset int) section {
	inner := r.whole()
	for _, s := range r.sections {
		if s.from <= offset && offset < s.to && s.fragment != "" {
			inner = s
		}
	}
	return inner
}

// from returns the range of the page that is still to be read according to a cursor. It fails if the cursor
// belongs to another page, or if the page has changed since.
func (r *readable) from(text string) (span, error) {
	c, err := parseCursor(text)
	if err != nil {
		return span{}, err
	}
	if c.of != digestOf(r.markdown) {
		return span{}, request.Wrong("The cursor does not belong to this page as it is stored now: it is of another page, or the page has changed since; leave the cursor out to read it from its beginning.")
	}
	if c.from >= c.to || c.to > uint64(len(r.markdown)) || !utf8.RuneStart(r.markdown[c.from]) {
		return span{}, errCursor
	}
	return span{int(c.from), int(c.to)}, nil
}

// cut returns the offset at which a window is cut so that its beginning takes at most the given number of
// bytes as JSON. The cut is before a block, such as a paragraph. Only if the first block alone is too long,
// the cut is within this block, and within is true: then it is after a line, a word or a character.
func (r *readable) cut(window span, most int) (to int, within bool) {
	text := r.markdown[window.from:window.to]
	size := fit(text, most)
	if size == len(text) {
		return window.to, false
	}
	to = window.from
	for _, start := range r.starts {
		if start > window.from+size {
			break
		}
		to = max(to, start)
	}
	if to > window.from {
		return to, false
	}
	for _, border := range []string{"\n", " "} {
		if at := strings.LastIndex(text[:size], border); at > size/2 {
			return window.from + at + 1, true
		}
	}
	return window.from + size, true
}
