package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	snippetSize = 220      // greatest size of a snippet in bytes
	scanSize    = 64 << 10 // number of bytes at the beginning of a text in which matches are looked for
	patience    = 8 << 10  // the search for a better window ends this many bytes after the best one so far
	titleSize   = 300      // greatest size of a title that is shown, in bytes
)

func (m *textMarker) whole(text string) []Fragment {
	var spans []span
	read := cutRune(text[:min(len(text), titleSize)])
	end := len(read)
	m.each(read, &end, func(s span) { spans = append(spans, s) })
	return fragments(text, window{0, len(text)}.fit(text, titleSize), spans)
}

// snippet marks the matches in the best window of a text: the first one with the greatest sum
// of weights of different words. It stops looking for a better window after patience bytes
// without one.
func (m *textMarker) snippet(text string) []Fragment {
	read := cutRune(text[:min(len(text), scanSize)])
	end := len(read)
	best := densest{weights: m.weights, counts: make([]int, len(m.weights))}
	m.each(read, &end, func(s span) {
		if !best.add(s) {
			return
		}
		more := patience
		if best.highest >= m.all-1e-9 {
			more = snippetSize
		}
		end = min(len(read), s.end+more)
	})
	return fragments(text, best.fit(text, snippetSize), best.spans)
}

// densest finds the best window of a text: at most snippetSize bytes, from the start of a match
// to the end of the same or a later match. Of equally good windows it keeps the first.
type densest struct {
	window
	weights []float64 // weight of each word of the query
	spans   []span
	counts  []int   // by word of the query: number of matches in spans[left:]
	left    int     // first match of the current window, as an index in spans
	value   float64 // sum of the weights of the words in spans[left:]
	highest float64 // value of the best window so far
}

// add adds the next match and reports whether it ends a window that is better than all before.
func (d *densest) add(right span) bool {
	d.spans = append(d.spans, right)
	if d.counts[right.word]++; d.counts[right.word] == 1 {
		d.value += d.weights[right.word]
	}
	for right.end-d.spans[d.left].start > snippetSize {
		word := d.spans[d.left].word
		if d.counts[word]--; d.counts[word] == 0 {
			d.value -= d.weights[word]
		}
		d.left++
	}
	if d.value <= d.highest+1e-9 {
		return false
	}
	d.highest, d.window = d.value, window{d.spans[d.left].start, right.end}
	return true
}

// cutSlack is the greatest number of bytes by which a window is shortened at either end, so that
// it ends at a space.
const cutSlack = 24

// window is a range of a text, in bytes.
type window struct{ start, end int }

// fit returns the window enlarged or reduced to size bytes, and then shortened so that it ends
// between words. If the window is enlarged, a third of the added bytes is before it.
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

// cutAfter returns the offset of the first space within cutSlack bytes after start; without one,
// that of the first whole character. The result is at most limit.
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

// cutBefore returns the offset of the last space within cutSlack bytes before end; without one,
// the end of the last whole character.
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

// fragments divides the text of a window into its matches and the pieces between them, and adds
// an ellipsis where text was cut off. spans are the matches in the whole text.
func fragments(text string, w window, spans []span) (out []Fragment) {
	add := func(start, end int, matched bool) {
		if piece := tidy(text[start:end]); piece != "" {
			out = append(out, Fragment{piece, matched})
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

// tidy replaces every run of spaces and control characters by one space.
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

// isTidy reports whether a text is ASCII and tidy would not change it.
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
