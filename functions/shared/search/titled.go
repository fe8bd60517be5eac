package search

import (
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// titled returns the bonus of a document whose title the query names:
//
//	Weights.Titled · T · (T/A)² · n/L
//
//	T   sum of the weights of those words of the query that the title has
//	A   sum of the weights of all words of the query
//	n   number of words of the title that are words of the query; of the variants of a word, such as its
//	    stem, only the most frequent counts
//	L   number of all words of the title
//
// A query "vacuum" so names a page with the title VACUUM rather than one with the title Routine Vacuuming
// Tasks, and hardly any page if it has many words. In BM25F the title alone cannot tell: in a page that has
// the word ten times, its occurrence in the title adds next to nothing.
func (s *scan) titled(doc uint32) float64 {
	var in, words, length float64
	for i := range s.words {
		c := &s.words[i]
		if s.joined[i] || c.doc != doc {
			continue
		}
		most := uint32(0)
		for k := range c.lists {
			l := &c.lists[k]
			if l.doc != doc || l.kind != ofText {
				continue
			}
			if freq, lengths, _ := l.it.Payload(); freq[segment.Title] > most {
				most = freq[segment.Title]
				length = float64(postings.LengthOf(lengths[segment.Title]))
			}
		}
		if most > 0 {
			in += s.plan.words[i].weight
			words += float64(most)
		}
	}
	if in == 0 {
		return 0
	}
	share := in / s.plan.weight()
	return s.plan.weights.Titled * in * share * share * min(1, words/length)
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
