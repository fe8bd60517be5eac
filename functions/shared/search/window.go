package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutSlack is how many bytes are given up to end at a space.
const cutSlack = 24

// window is a part of a text, in bytes.
type window struct{ start, end int }

// fit widens or narrows a window to at most size bytes of the text, a third of
// what is added before it, and cuts it between words.
func (w window) fit(text string, size int) window {
	spare := size - (w.end - w.start)
	start := max(0, w.start-max(0, spare)/3)
	end := min(len(text), start+size)
	start = max(0, min(start, end-size))
	limit := max(start, w.start)
	if start > 0 {
		start = cutAfter(text, start, limit)
	}
	if end < len(text) {
		end = cutBefore(text, start, end)
	}
	return window{start, end}
}

// cutAfter returns the first beginning of a word at or after start, or of a
// character where there is no space soon; not beyond limit.
func cutAfter(text string, start, limit int) int {
	for start < limit && !utf8.RuneStart(text[start]) {
		start++
	}
	near := text[start:min(limit, start+cutSlack)]
	if space := strings.IndexFunc(near, unicode.IsSpace); space >= 0 {
		return start + space
	}
	return start
}

// cutBefore returns the last end of a word at or before end, or of a character
// where no space is near.
func cutBefore(text string, start, end int) int {
	for end > start && !utf8.RuneStart(text[end]) {
		end--
	}
	from := max(start, end-cutSlack)
	if space := strings.LastIndexFunc(text[from:end], unicode.IsSpace); space >= 0 {
		return from + space
	}
	return end
}

// fragments cuts the window into matches and what lies between, with an
// ellipsis where text was left out.
func fragments(text string, w window, spans []span) (out []Fragment) {
	add := func(start, end int, match bool) {
		if piece := tidy(text[start:end]); piece != "" {
			out = append(out, Fragment{piece, match})
		}
	}
	if w.start > 0 {
		out = append(out, Fragment{Text: "… "})
	}
	done := w.start
	for i := 0; i < len(spans); i++ {
		start, end := spans[i].start, spans[i].end
		for i+1 < len(spans) && spans[i+1].start <= end { // pairs of characters overlap
			i++
			end = spans[i].end
		}
		start, end = max(start, done), min(end, w.end)
		if start >= end {
			continue
		}
		add(done, start, false)
		add(start, end, true)
		done = end
	}
	add(done, max(done, w.end), false)
	if w.end < len(text) {
		out = append(out, Fragment{Text: " …"})
	}
	return out
}

// tidy writes every run of spaces and control characters as one space.
func tidy(text string) string {
	if isTidy(text) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	space := false
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = true
			continue
		}
		if space {
			out.WriteByte(' ')
			space = false
		}
		out.WriteRune(r)
	}
	if space {
		out.WriteByte(' ')
	}
	return out.String()
}

// isTidy reports whether tidy would change nothing, where that is soon seen.
func isTidy(text string) bool {
	before := byte('x')
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == ' ' && before == ' ' {
			return false
		}
		before = c
	}
	return true
}
