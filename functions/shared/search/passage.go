package search

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// Parts of the bonus of a document that has many words of the query in one passage of its body, wherever in the
// passage and in whatever order. A long manual may have all words of a question, each in another chapter; the
// page that answers the question has most of them in one or two sentences. (Tao and Zhai, An Exploration of
// Proximity Measures in Information Retrieval, 2007, compare such measures.)
const (
	// maxPassageWords is the greatest number of words of a query that are looked for in passages. Of more
	// words, those with the greatest shares (see queryPhrase.shares) are taken.
	maxPassageWords = 16
	// passageWidth is the greatest distance of two words of a passage, in positions.
	passageWidth = 25
	// passageHalf is the length of a body, in words, at which the bonus is halved. In a shorter text, words
	// are near each other by chance.
	passageHalf = 300
)

// addPassage adds to p.near the words of a long query that are looked for in passages (see queryPhrase.shares): plain
// and quoted words, but no words that stand for others, such as fox*. A query with text in a script without spaces
// has no passages. Nor has a short query, or one that names a page (see doubt): its page has the words in the title,
// and passages of long pages that mention it would come before it.
func (p *plan) addPassage() {
	if !p.long {
		return
	}
	ph := &queryPhrase{}
	for _, w := range p.words {
		switch {
		case w.isPair():
			return
		case !w.joined && !w.grouped && !w.expands() && len(w.any) == 0:
			ph.words = append(ph.words, w)
		}
	}
	if len(ph.words) < 2 {
		return
	}
	slices.SortStableFunc(ph.words, func(a, b *queryWord) int { return cmp.Compare(p.telling(b), p.telling(a)) })
	ph.words = ph.words[:min(len(ph.words), maxPassageWords)]
	ph.at = make([]uint32, len(ph.words)) // the words have no order
	all := 0.0
	for _, w := range ph.words {
		all += p.telling(w)
	}
	if all == 0 {
		return
	}
	for _, w := range ph.words {
		ph.shares = append(ph.shares, p.telling(w)/all)
	}
	ph.weight = p.weights.Passage * all
	p.near = append(p.near, ph)
}

// passageScore returns the bonus of a document for a passage of its body. The parameter share is the sum of the
// shares of the words in the passage, and length is the code of the body's length.
func (ph *queryPhrase) passageScore(share float64, length uint8) float64 {
	n := float64(postings.LengthOf(length))
	return ph.weight * share * share * share * n / (n + passageHalf)
}

// mostInPassage returns an upper bound of the bonus of a document for a passage: that of a passage with all words
// that the body has.
func (s *scan) mostInPassage(ph *queryPhrase, doc uint32) float64 {
	var length [postings.Fields]uint8
	share := 0.0
	for i, w := range ph.words {
		var freq [postings.Fields]uint32
		if s.words[w.place].occurrences(doc, &freq, &length); freq[segment.Body] > 0 {
			share += ph.shares[i]
		}
	}
	return ph.passageScore(share, length[segment.Body]) * slack
}

// passageReader finds the best passages of texts. It keeps memory for reuse.
type passageReader struct {
	found []placedWord // sorted runs one after another, or one run
	ends  []int        // end of each run in found
	spare []placedWord // memory for the method merge
	count []int        // for each word of the query, how often the current passage has it
}

// placedWord is an occurrence of a word: its position in the upper 32 bits, and the index of the word in
// queryPhrase.words in the lower ones. So occurrences are sorted as numbers.
type placedWord uint64

func placed(position uint32, word int) placedWord {
	return placedWord(uint64(position)<<32 | uint64(uint32(word)))
}

func (w placedWord) position() uint32 { return uint32(w >> 32) }

func (w placedWord) word() int { return int(uint32(w)) }

// best returns the sum of the shares of the words in the best passage of a text. The parameter positions has, for
// each word of the query, its positions in the text, ascending. Of stop words, only those near another word of the
// query are looked at: they are many, and say little.
func (r *passageReader) best(ph *queryPhrase, positions [][]uint32) (best float64) {
	r.found, r.ends = r.found[:0], r.ends[:0]
	for i, w := range ph.words {
		if !w.isStopWord() {
			for _, at := range positions[i] {
				r.found = append(r.found, placed(at, i))
			}
			r.ends = append(r.ends, len(r.found))
		}
	}
	r.merge()
	telling := len(r.found)
	for i, w := range ph.words {
		if w.isStopWord() {
			r.addNear(r.found[:telling], positions[i], i)
			r.ends = append(r.ends, len(r.found))
		}
	}
	r.merge()
	r.count = append(r.count[:0], make([]int, len(ph.words))...)
	from, share := 0, 0.0
	for _, found := range r.found {
		last := found.word()
		if r.count[last]++; r.count[last] == 1 {
			share += ph.shares[last]
		}
		for ; r.found[from].position()+passageWidth < found.position(); from++ {
			first := r.found[from].word()
			if r.count[first]--; r.count[first] == 0 {
				share -= ph.shares[first]
			}
		}
		best = max(best, share)
	}
	return min(best, 1)
}

// addNear adds those positions of a stop word that may be in a passage with one of the given words.
func (r *passageReader) addNear(words []placedWord, positions []uint32, word int) {
	for _, at := range positions {
		for len(words) > 0 && words[0].position()+passageWidth < at {
			words = words[1:]
		}
		if len(words) == 0 {
			return
		}
		if words[0].position() <= at+passageWidth {
			r.found = append(r.found, placed(at, word))
		}
	}
}

// merge sorts r.found: it merges every two neighbouring runs until there is only one.
func (r *passageReader) merge() {
	for len(r.ends) > 1 {
		r.spare = r.spare[:0]
		from, runs := 0, 0
		for i := 0; i < len(r.ends); i += 2 {
			middle, end := r.ends[i], r.ends[min(i+1, len(r.ends)-1)]
			r.spare = appendMerged(r.spare, r.found[from:middle], r.found[middle:end])
			r.ends[runs], from = end, end
			runs++
		}
		r.ends = r.ends[:runs]
		r.found, r.spare = r.spare, r.found
	}
}

// appendMerged appends two sorted runs to dst as one.
func appendMerged(dst, a, b []placedWord) []placedWord {
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			dst, a = append(dst, a[0]), a[1:]
		} else {
			dst, b = append(dst, b[0]), b[1:]
		}
	}
	return append(append(dst, a...), b...)
}
