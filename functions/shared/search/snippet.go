package search

const (
	snippetSize = 220      // bytes
	scanSize    = 64 << 10 // bytes of a text searched for matches
	patience    = 8 << 10  // bytes searched for better ones than the best so far
	titleSize   = 300      // bytes of a title that are shown
)

// whole marks the matches in a short text.
func (m *marker) whole(text string) []Fragment {
	var spans []span
	read := cutRune(text[:min(len(text), titleSize)])
	end := len(read)
	m.each(read, &end, func(s span) { spans = append(spans, s) })
	return fragments(text, window{0, len(text)}.fit(text, titleSize), spans)
}

// snippet marks the matches in the part of the text that holds the most
// different and rarest words, the first such part. Where some are found, it
// looks only so far for more.
func (m *marker) snippet(text string) []Fragment {
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

// densest finds the first of the best windows, from the start of a match to
// the end of one.
type densest struct {
	window
	weights []float64 // by word
	spans   []span
	counts  []int // of words from left on
	left    int
	value   float64 // of the words from left on
	highest float64
}

// add takes the next match and reports whether it ends the best window so far.
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
