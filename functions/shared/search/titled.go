package search

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// titled returns the bonus of a document whose title the query names:
//
//	Weights.Titled · T · (T/A)² · n/L · content
//
//	T         sum of the weights of those words of the query that the title has
//	A         sum of the weights of all words of the query
//	n         number of words of the title that are words of the query, as far as they count (see
//	          statistics.counted); of the variants of a word, such as its stem, only the most frequent counts
//	L         number of all words of the title
//	content   1; but if the body has a word of the title, and is shorter than a sixteenth of the average, its
//	          length divided by this sixteenth
//
// A query "vacuum" so names a page with the title VACUUM rather than one with the title Routine Vacuuming
// Tasks, and hardly any page if it has many words. In BM25F the title alone cannot tell: in a page that has
// the word ten times, its occurrence in the title adds next to nothing.
func (s *scan) titled(doc uint32) float64 {
	var in, words, length float64
	content := 1.0
	for i := range s.words {
		c := &s.words[i]
		if s.joined[i] || c.doc != doc {
			continue
		}
		most, code := uint32(0), uint8(0)
		for k := range c.lists {
			l := &c.lists[k]
			if l.doc != doc || l.kind != ofText {
				continue
			}
			freq, lengths, _ := l.it.Payload()
			if freq[segment.Title] > most {
				most = freq[segment.Title]
				code = lengths[segment.Title]
			}
			if freq[segment.Title] > 0 && freq[segment.Body] > 0 {
				content = s.statistics.content[lengths[segment.Body]]
			}
		}
		if most > 0 {
			in += s.plan.words[i].weight
			words += s.statistics.counted(segment.Title, most, code)
			length = float64(postings.LengthOf(code))
		}
	}
	if in == 0 {
		return 0
	}
	share := in / s.plan.weight()
	return s.plan.weights.Titled * in * share * share * min(1, words/length) * content
}

// addSubjects adds two bonuses to the scores of the best matches: for titles that the query names (see titled),
// and for names of the query that the page defines (see defined). Then it sorts the matches again. Only the
// matches that addNear examines get the bonuses; all others have 0.
func (s *search) addSubjects(best []match) {
	n := examined(best)
	for i := range best[n:] {
		best[n+i].titled, best[n+i].defined = 0, 0
	}
	best = best[:n]
	for i := range best {
		best[i].score += best[i].titled + best[i].defined
	}
	slices.SortFunc(best, byScore)
}
