package mcp

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
)

// outlineSize is the greatest size of a list of headings as JSON, in bytes.
const outlineSize = 4000

// answer returns the text of an answer that shows a window (a range of bytes) of the page, and how to cite
// the section in. If the window is too large for one answer, the answer has a cursor for the rest. If begins
// is true, which means that the window is not the rest of an earlier answer, it also lists the headings
// first.
func (r *readable) answer(page engine.Copy, in section, window span, begins bool, notes []string) string {
	if r.dropped > 0 {
		notes = append(notes, droppedNote(r.dropped)...)
	}
	head := cite(page, in.fragment, r.date) + listed(notes)
	left := MaxAnswer - envelopeSize - jsonSize(head) - footSize
	outline := ""
	if to, _ := r.cut(window, left); begins && to < window.to {
		outline = r.outline(window)
		left -= jsonSize(outline)
	}
	to, within := r.cut(window, left)
	if to < window.to || window.from > 0 || window.to < len(r.markdown) {
		head += fmt.Sprintf("These are bytes %d to %d of %d of the page's Markdown.\n", window.from, to, len(r.markdown))
	}
	if within {
		head += "The window ends within a block, such as a table or code, because the block is longer than an answer.\n"
	}
	if to < window.to {
		head += fmt.Sprintf("For more, call read_page with the same url and the cursor %s.\n", cursor{digestOf(r.markdown), uint64(to), uint64(window.to)})
	}
	return envelope(head, outline+r.markdown[window.from:to])
}

// footSize is the number of bytes, written as JSON, that are reserved for the lines which answer adds to the
// head after it has chosen where to cut the window.
const footSize = 500

// outline lists the headings in a range of the page, so that the client can ask for a section:
//
//	Headings:
//	- Sizes (#sizes)
//	  - Of trees
func (r *readable) outline(of span) string {
	var b strings.Builder
	size, left := 0, 0
	for _, s := range r.sections {
		if s.from < of.from || s.from >= of.to || s.heading == "" {
			continue
		}
		line := strings.Repeat("  ", s.level-1) + "- " + cutText(s.heading, 150)
		if s.fragment != "" {
			line += " (#" + (&url.URL{Fragment: s.fragment}).EscapedFragment() + ")"
		}
		line += "\n"
		if size += jsonSize(line); size > outlineSize {
			left++
			continue
		}
		b.WriteString(line)
	}
	if b.Len() == 0 {
		return ""
	}
	if left > 0 {
		fmt.Fprintf(&b, "and %d further headings\n", left)
	}
	return "Headings:\n" + b.String() + "\n"
}

// droppedNote says that invisible characters were dropped, if there were any.
func droppedNote(n int) []string {
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d invisible characters of the page are left out.", n)}
}

// unescaped returns a fragment without percent-encoding, as the page has it: für for f%C3%BCr.
func unescaped(fragment string) string {
	if plain, err := url.PathUnescape(fragment); err == nil {
		return plain
	}
	return fragment
}
