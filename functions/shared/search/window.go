package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

const (
	snippetSize = 220      // snippetSize is the greatest width of a snippet, in columns of a fixed-width font
	scanSize    = 64 << 10 // scanSize is the number of bytes at the beginning of a text in which matches are looked for
	// patience limits the search of the method best for the best window (excerpt) of a text. The
	// search ends if the text has no better window in so many bytes after the best one so far.
	patience = 8 << 10
	// nearer replaces patience once the best window so far has all words of the query. Then the search
	// ends if the text has no better window in so many bytes after the best one. The number is smaller than
	// patience, because a better window could only have the same words closer to each other.
	nearer    = 1 << 10
	titleSize = 300 // greatest width of a title, in columns of a fixed-width font
)

func (m *textMarker) whole(text string) []Fragment {
	w := window{0, 0}.fit(text, titleSize)
	var spans []span
	m.each(text, 0, &w.end, func(s span) { spans = append(spans, s) })
	return fragments(text, w, spans)
}

// snippet returns the best window of a text, with its matches marked (see best).
func (m *textMarker) snippet(text string) []Fragment {
	best, at := m.best(text, scanSize, patience)
	w := best.fit(text, snippetSize)
	end := min(len(best.text), w.end)
	m.each(best.text, at, &end, func(s span) { best.spans = append(best.spans, s) })
	return fragments(text, w, best.spans)
}

// best finds the best window of a text. This is the one whose different words have the greatest sum of weights; of
// windows with the same sum, one whose matches are close together. It reads at most the first size bytes of the
// text. It ends earlier if it has found no better window for a number of bytes: wait or, if the best window so far
// has all words of the query, the constant nearer. The result at is the offset up to which the text was read.
func (m *textMarker) best(text string, size, wait int) (best densest, at int) {
	read := cutRune(text[:min(len(text), size)])
	end := len(read)
	best = m.newDensest(read)
	at = m.each(read, 0, &end, func(s span) {
		if !best.add(s) {
			return
		}
		switch {
		case best.highest < m.all-1e-9:
			end = min(len(read), s.end+wait)
		case best.isDense():
			end = s.end
		default:
			end = min(len(read), s.end+nearer)
		}
	})
	return best, at
}

func (m *textMarker) newDensest(text string) densest {
	return densest{text: text, weights: m.weights, counts: make([]int, len(m.weights))}
}

// densest finds the best window of a text. A window begins with a match, ends with the same or a later
// match, and is at most snippetSize columns wide.
type densest struct {
	window
	text    string
	weights []float64 // weight of each word of the query
	spans   []span
	counts  []int   // number of matches of each word of the query in spans[left:]
	left    int     // first match of the current window, as an index in spans
	value   float64 // sum of the weights of the words in spans[left:]
	highest float64 // value of the best window so far
	gaps    int     // number of bytes between the matches of the best window
}

// add adds the next match, and reports whether a new best window ends with it.
// A window is better if its sum of weights is higher, or if the sum is the same and the window has
// less than half as many bytes between its matches.
func (d *densest) add(right span) bool {
	d.spans = append(d.spans, right)
	if d.counts[right.word]++; d.counts[right.word] == 1 {
		d.value += d.weights[right.word]
	}
	for d.left < len(d.spans)-1 && (d.counts[d.spans[d.left].word] > 1 || d.isTooWide(d.spans[d.left].start, right.end)) {
		word := d.spans[d.left].word
		if d.counts[word]--; d.counts[word] == 0 {
			d.value -= d.weights[word]
		}
		d.left++
	}
	gaps := right.end - d.spans[d.left].start
	for _, s := range d.spans[d.left:] {
		gaps -= s.end - s.start
	}
	if d.value < d.highest-1e-9 || d.value <= d.highest+1e-9 && 2*gaps >= d.gaps {
		return false
	}
	d.highest, d.gaps, d.window = max(d.highest, d.value), gaps, window{d.spans[d.left].start, right.end}
	return true
}

// isTooWide reports whether text[start:end] is wider than snippetSize. A text of at most
// snippetSize bytes never is, since no character has more columns than bytes.
func (d *densest) isTooWide(start, end int) bool {
	return end-start > snippetSize && widthOf(d.text[start:end], snippetSize) > snippetSize
}

// isDense reports whether the matches of the best window stand side by side: the text between them
// has at most two bytes for each word of the query.
func (d *densest) isDense() bool { return d.gaps <= 2*len(d.weights) }

// cutSlack is the greatest number of columns by which a window is shortened at either end, so that
// it ends at a space.
const cutSlack = 24

// window is a range of a text, in bytes.
type window struct{ start, end int }

// fit makes w, a window with matches, as wide as the given size in columns. The result begins and ends
// between words. If w is wider than the size, fit cuts off its end. Else it fills the remaining columns with
// text before and after w. The text before w gets at most two thirds of them, and begins with a sentence.
// If no sentence starts in so many columns before w, the text before w gets one third. If the text after w
// is too short to fill its share, the text before w gets more columns.
func (w window) fit(text string, size int) window {
	if w.end-w.start > size { // no character has more columns than bytes
		if end := ahead(text, w.start, size); end < w.end {
			return window{w.start, w.start}.cutEnd(text, end)
		}
	}
	spare := size - widthOf(text[w.start:w.end], size)
	rest := widthOf(text[w.end:], spare)
	most := max(spare*2/3, spare-rest)
	start, found := sentence(text, startOf(text, w.start, most), w.start)
	if !found {
		start = cutAfter(text, startOf(text, w.start, max(spare/3, spare-rest)), w.start)
	}
	w.start = start
	return w.cutEnd(text, ahead(text, start, size))
}

// cutEnd returns a window from the beginning of w to the offset end. If a word goes on at this offset, the
// window ends at the space before the word instead. But it ends within the word if that space is too far
// away (see cutBefore), or if the space is in w, because the result must contain all of w.
func (w window) cutEnd(text string, end int) window {
	if end < len(text) && !strings.ContainsRune(" \n", rune(text[end])) {
		end = cutBefore(text, max(w.start, w.end), end)
	}
	return window{w.start, end}
}

// sentence returns the last start of a sentence or line between two offsets; found is false if
// there is none. A sentence starts
//
//	at the beginning of the text
//	after a line break
//	after a full stop of a language that puts no space behind it, such as 。
//	after a full stop or similar sign and a space, unless a small letter follows
func sentence(text string, from, to int) (start int, found bool) {
	for at := to; at >= from; {
		before, size := utf8.DecodeLastRuneInString(text[:at])
		switch {
		case at == 0 || before == '\n' || strings.ContainsRune("。！？｡।॥", before):
			return at, true
		case unicode.IsSpace(before):
			sign, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text[:at], " \u00a0»”\"')"))
			first, _ := utf8.DecodeRuneInString(text[at:])
			if strings.ContainsRune(".!?…։؟۔", sign) && !unicode.IsLower(first) && !unicode.IsSpace(first) {
				return at, true
			}
		}
		at -= size
	}
	return to, false
}

// cutAfter returns the offset of the first space that is at most cutSlack columns behind start and before limit. If
// there is none, it returns the first offset from start on that is not inside a character as readers see it (see
// isInside). It returns 0 if start is 0.
func cutAfter(text string, start, limit int) int {
	if start == 0 {
		return start
	}
	near := text[start:min(limit, ahead(text, start, cutSlack))]
	if space := strings.IndexFunc(near, unicode.IsSpace); space >= 0 {
		return start + space
	}
	for start < limit && isInside(text, start) {
		_, size := utf8.DecodeRuneInString(text[start:])
		start += size
	}
	return start
}

// cutBefore returns the offset of the last space that is at most cutSlack columns before end, and not before least.
// If there is none, it returns the last offset up to end that is not inside a character as readers see it (see
// isInside).
func cutBefore(text string, least, end int) int {
	from := max(least, startOf(text, end, cutSlack))
	if space := strings.LastIndexFunc(text[from:end], unicode.IsSpace); space >= 0 {
		return from + space
	}
	for end > from && isInside(text, end) {
		_, size := utf8.DecodeLastRuneInString(text[:end])
		end -= size
	}
	return end
}

// isInside reports whether an offset of the text is inside what readers see as one character (Unicode Standard
// Annex 29): before an accent, a vowel sign or a skin tone, or beside a character that joins two letters or
// pictures.
func isInside(text string, at int) bool {
	const joiner, am, laoAm = '\u200d', '\u0e33', '\u0eb3' // Thai and Lao SARA AM are vowel signs behind their letters
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return unicode.Is(unicode.M, after) || after == joiner || before == joiner || after == am || after == laoAm ||
		0x1F3FB <= after && after <= 0x1F3FF || isVirama(before)
}

// isVirama reports whether a character is a virama: a sign of Indic scripts that joins two consonants.
func isVirama(r rune) bool {
	const virama = 9 // canonical combining class
	return r >= 0x94D && norm.NFC.PropertiesString(string(r)).CCC() == virama
}

// withoutTitle returns a copy of the document whose body lacks its first line, if this line is the title or the
// beginning of the title, and other lines follow. The starts and ends of sections and entries are moved by as many
// bytes as were removed. An entry that begins in the removed line is left out. In all other cases withoutTitle
// returns d itself.
func withoutTitle(d *segment.Document) *segment.Document {
	first, rest, found := strings.Cut(strings.TrimLeft(d.Body, "\n"), "\n")
	line, title := strings.TrimSpace(tidy(first)), strings.TrimSpace(tidy(d.Title))
	if !found || strings.TrimSpace(rest) == "" || len(line) > len(title) || !strings.EqualFold(line, title[:len(line)]) {
		return d
	}
	without := *d
	without.Body = strings.TrimLeftFunc(rest, unicode.IsSpace)
	removed := len(d.Body) - len(without.Body)
	without.Sections = slices.Clone(d.Sections)
	for i := range without.Sections {
		without.Sections[i].Start = max(0, without.Sections[i].Start-removed)
	}
	without.Entries = nil
	for _, e := range d.Entries {
		if e.Start >= removed {
			e.Start, e.End = e.Start-removed, e.End-removed
			without.Entries = append(without.Entries, e)
		}
	}
	return &without
}

// fragments divides the text of a window into the matches and the pieces between them, and tidies these up (see the
// function tidy). It adds an ellipsis at each end at which text was cut off. The parameter spans has the matches in
// the whole text.
func fragments(text string, w window, spans []span) (out []Fragment) {
	if w.start > 0 {
		out = append(out, Fragment{Text: "… "})
	}
	for _, f := range cutAtMatches(text, w, spans) {
		if f.Text = tidy(f.Text); f.Text != "" {
			out = append(out, f)
		}
	}
	if w.end < len(text) {
		out = append(out, Fragment{Text: " …"})
	}
	return out
}

// cutAtMatches divides the text of a window into its matches and the pieces between them.
func cutAtMatches(text string, w window, spans []span) (out []Fragment) {
	add := func(start, end int, matched bool) {
		if start < end {
			out = append(out, Fragment{text[start:end], matched})
		}
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
	add(done, w.end, false)
	return out
}

// tidy replaces every run of spaces, control characters, pilcrows (¶) and private-use characters by
// one space. Documentation shows pilcrows beside its headings, and many fonts have icons as
// private-use characters.
func tidy(text string) string {
	if isTidy(text) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	space := false
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if isBlank(r) {
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

// isBlank reports whether the function tidy replaces a character by a space.
func isBlank(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == '\x7f'
	}
	return r == '¶' || unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Co, r)
}

// isTidy reports whether a text is ASCII and would not be changed by the function tidy.
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
