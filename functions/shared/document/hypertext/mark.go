package hypertext

import (
	"bytes"
	"strings"

	"golang.org/x/net/html/atom"
)

// dropMark removes the text of a link from the page if it belongs to the heading or term (dt) beside it only as a
// tool: a sign such as ¶, by which manuals link a heading to itself, or a word in brackets such as [source], which
// leads to the program that a term describes. The parameter number is the index of the link's element in
// Page.Elements.
func (r *reader) dropMark(l *Reference, number int32) {
	p := r.page
	start := min(l.Start, int32(len(p.Text)))
	if text := bytes.TrimSpace(p.Text[start:]); !(isSign(text) && strings.HasPrefix(l.Address, "#") || isTool(text) && r.isNamed(number)) {
		return
	}
	for i := number + 1; int(i) < len(p.Elements); i++ {
		r.steps++
		p.Elements[i].Start, p.Elements[i].End = start, start
	}
	if r.block >= 0 {
		b := &p.Blocks[r.block]
		b.Linked = max(0, b.Linked-int32(len(bytes.TrimSpace(p.Text[start:]))))
		b.Emphasized = min(b.Emphasized, start-min(b.Start, start))
		if b.End = start; b.End <= b.Start {
			p.Blocks, r.block = p.Blocks[:r.block], -1
		}
	}
	p.Text = p.Text[:start]
}

// isSign reports whether a text is a sign by which a heading is linked to itself.
func isSign(text []byte) bool {
	switch string(text) {
	case "¶", "#", "§", "🔗", "⚓":
		return true
	}
	return false
}

// isTool reports whether a text is in brackets and short, such as [source].
func isTool(text []byte) bool {
	return len(text) > 2 && len(text) <= maxTool && text[0] == '[' && text[len(text)-1] == ']'
}

// isNamed reports whether an element is within a heading or a term, and is not the first text there.
func (r *reader) isNamed(number int32) bool {
	start := r.page.Elements[number].Start
	for range aboveTool {
		if number = r.page.Elements[number].Parent; number < 0 {
			break
		}
		if e := &r.page.Elements[number]; e.Name == atom.Dt || IsHeading(e.Name) {
			return e.Start < start
		}
	}
	return false
}
