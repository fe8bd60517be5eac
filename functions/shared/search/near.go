package search

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Weights of the bonus of a document that has two neighbouring words of the query near each other.
// The bonus is the sum of the scores of two phrases (Metzler and Croft, A Markov Random Field Model for
// Term Dependencies, 2005):
//
//	with the weight Weights.Ordered   the two words exactly as in the query
//	with the weight Weights.Nearby    the two words in any order, with the slop nearSlop (see MaxSlop)
//
// A phrase scores like a word. Its idf is the sum of the idfs of its words, times the phrase's weight.
const (
	nearSlop = 6
	// overlapWeight is a further factor of a phrase's weight if its two words are overlapping pairs
	// of characters of a script without spaces: AB and BC of the text ABC. The phrase says little,
	// because most texts with both pairs have them next to each other.
	overlapWeight = 0.1
	// runWeight is a further factor of a phrase's weight if the phrase is a run of characters of a
	// script without spaces, such as a Chinese title. The whole run in a text is strong evidence: texts
	// that have all its pairs of characters, but at different places, are far more frequent.
	runWeight = 1.3
	// nearInDoubt is a further factor of the bonus if the query describes pages instead of naming one
	// (see doubt). Two neighbouring words of such a query are often near each other in a text only by
	// chance.
	nearInDoubt = 0.5
	// maxRun is the greatest number of words in a phrase that is made of a run. A run is text of a
	// script without spaces, divided into overlapping pairs of characters; each pair counts as a
	// word. A longer run is not searched as one phrase, since it is a sentence, and hardly any text
	// has the same sentence.
	maxRun = 12
)

// weighNear sets the weights of the phrases of p.near. If there are more than 2·nearPairs phrases, it
// keeps only those with the rarest words. The limit is twice nearPairs because most pairs of words
// have two phrases: an exact one, and one with slop.
//
// A pair with a stop word gets a low weight, unless all words of the query are stop words. For example, the
// phrase "what is" in a page does not make it a better answer to the query: what is photosynthesis.
func (p *plan) weighNear() {
	rarity := func(ph *queryPhrase) (sum float64) {
		for _, w := range ph.words {
			sum += p.telling(w)
		}
		return sum
	}
	for _, ph := range p.near {
		ph.weight = p.weights.Ordered
		if ph.slop > 0 {
			ph.weight = p.weights.Nearby
		}
		ph.weight *= rarity(ph)
		switch {
		case ph.overlap:
			ph.weight *= overlapWeight
		case ph.run:
			ph.weight *= runWeight
		}
	}
	if len(p.near) > 2*nearPairs {
		slices.SortStableFunc(p.near, func(a, b *queryPhrase) int { return cmp.Compare(rarity(b), rarity(a)) })
		p.near = p.near[:2*nearPairs]
	}
}

// telling returns the idf of a word as it counts in the weights of phrases: lowered if the word is a stop word,
// unless the query has no other words. In a long query the idf of stop words is lowered already.
func (p *plan) telling(w *queryWord) float64 {
	if p.long || p.hasOnlyStopWords() {
		return w.idf
	}
	return w.idf * p.lowered(w)
}

// maxNearest limits how many matches are examined for words near each other. These are the best hundred
// (see nearest), and all further ones that tie with the hundredth. If they are more than maxNearest, all
// matches with the score of the hundredth are left out.
const maxNearest = 2 * nearest

// examined returns how many of the best matches are examined for bonuses, such as that for words near
// each other. These are the first 100 (see nearest), and all further matches with the same score as the
// hundredth, so that the result does not depend on the order of equal scores. If all these together are
// more than maxNearest, only the matches with higher scores than the hundredth are examined.
func examined(best []match) int {
	if len(best) <= nearest {
		return len(best)
	}
	least := best[nearest-1].score
	n := nearest + behindScore(best[nearest:], func(score float64) bool { return score < least })
	if n > maxNearest {
		n = behindScore(best, func(score float64) bool { return score <= least })
	}
	return n
}

// addNear adds the bonuses for words near each other and for passages to the scores of the best matches, and sorts
// them again. The parameter best must be sorted by score; doubt is the result of plan.doubt, by which words near
// each other count less, and passages more.
func (s *search) addNear(ctx deadline, best []match, doubt float64) error {
	n := examined(best)
	best = best[:n]
	if n == 0 || s.query.Size == 0 {
		return nil
	}
	factor := 1 - doubt*(1-nearInDoubt)
	for _, ph := range s.plan.near {
		if ph.shares != nil {
			ph.weight *= doubt
		} else {
			ph.weight *= factor
		}
	}
	// A match that stays below the page even with the bonus needs none.
	least := best[min(n, s.border())-1].score
	var may []match
	var places []int
	for i, f := range best {
		if f.near > 0 && f.score+max(factor, doubt)*f.near >= least {
			may = append(may, f)
			places = append(places, i)
		}
	}
	if len(may) == 0 {
		return nil
	}
	found := make([][]occurrence, len(may))
	for i, f := range may {
		found[i] = s.carried[spot{f.part, f.doc}].phrases
	}
	if s.carried == nil {
		var reaches mayMatter
		if len(s.plan.near) > boundedPairs { // the field near of the matches is the bound of all documents
			reaches = func(i int, most []occurrence) bool { return may[i].score+s.nearness(most)*slack >= least }
		}
		var err error
		if found, err = s.occurring(ctx, may, s.plan.near, reaches); err != nil {
			return err
		}
	}
	for i, n := range places {
		if found[i] != nil {
			best[n].score += s.nearness(found[i])
		}
	}
	slices.SortFunc(best, byScore)
	return nil
}

// nearness returns the bonus of a document for words near each other. found are the
// occurrences of the phrases of plan.near.
func (s *search) nearness(found []occurrence) (sum float64) {
	for i, ph := range s.plan.near {
		if o := &found[i]; ph.shares != nil {
			sum += ph.passageScore(o.share, o.length[segment.Body])
		} else {
			sum += s.statistics.bm25f(ph.weight, &o.freq, &o.length)
		}
	}
	return sum
}

// behindScore returns the index of the first match whose score satisfies the given condition, or the
// number of matches if there is none.
func behindScore(best []match, behind func(score float64) bool) int {
	if n := slices.IndexFunc(best, func(f match) bool { return behind(f.score) }); n >= 0 {
		return n
	}
	return len(best)
}

// maxCounted is the greatest number of occurrences of a phrase with slop that are counted in a
// field. Further occurrences would hardly change the score.
const maxCounted = 255

// adjacent returns the number of occurrences of a phrase in a field.
//
//	positions   for each word of the phrase, its positions in the field, ascending
//	at          for each word of the phrase, its distance from the phrase's first word
//	slop        by how many positions, in total, the words may be moved from their places in the
//	            phrase
//	scratch     memory for reuse: the second result of an earlier call, or nil
//
// Two successive words of the phrase are never found at the same position. Each position of the first
// word counts as at most one occurrence.
func adjacent(positions [][]uint32, at []uint32, slop int, scratch []uint32) (count int, _ []uint32) {
	switch {
	case slop > 0 && len(positions) == 2:
		return sloppyPair(positions[0], positions[1], int(at[1]-at[0]), slop), scratch
	case slop > 0:
		return sloppy(positions, at, slop), scratch
	}
	starts := append(scratch[:0], positions[0]...)
	for i, of := range positions[1:] {
		kept := starts[:0]
		for _, start := range starts {
			wanted := start + at[i+1]
			for len(of) > 0 && of[0] < wanted {
				of = of[1:]
			}
			if len(of) > 0 && of[0] == wanted {
				kept = append(kept, start)
			}
		}
		starts = kept
	}
	return len(starts), starts
}

// sloppyPair counts the occurrences of a phrase of two words with slop. a and b are the positions of
// the words, and gap is their distance in the phrase. An occurrence of the first word counts if the second
// word stands anywhere between gap − slop and gap + slop positions after it.
func sloppyPair(a, b []uint32, gap, slop int) (count int) {
	for _, start := range a {
		wanted := int(start) + gap
		for len(b) > 0 && int(b[0]) < wanted-slop {
			b = b[1:]
		}
		for _, p := range b {
			if int(p) > wanted+slop {
				break
			}
			if p != start {
				count++
				break
			}
		}
		if count == maxCounted {
			break
		}
	}
	return count
}

// reached is a partial match of a phrase with slop: the first words of the phrase have been found in a
// text. The field at is the position of the last found word. The field slop is the part of the allowed
// slop that is used up: by how many positions, in total, the distances of the found words differ from
// those in the phrase. If the earlier words can be found at several positions, the least total is taken.
type reached struct{ at, slop int }

func sloppy(positions [][]uint32, at []uint32, slop int) (count int) {
	var ends, next []reached
	for _, start := range positions[0] {
		ends = append(ends[:0], reached{int(start), 0})
		for i := 1; i < len(positions) && len(ends) > 0; i++ {
			next = next[:0]
			gap := int(at[i] - at[i-1])
			wanted := int(start + at[i])
			from, _ := slices.BinarySearchFunc(positions[i], wanted-slop, func(p uint32, least int) int { return int(p) - least })
			for _, p := range positions[i][from:] {
				if int(p) > wanted+slop {
					break
				}
				least := slop + 1
				for _, e := range ends {
					if e.at != int(p) {
						least = min(least, e.slop+distance(e.at+gap, int(p)))
					}
				}
				if least <= slop {
					next = append(next, reached{int(p), least})
				}
			}
			ends, next = next, ends
		}
		if len(ends) > 0 {
			if count++; count == maxCounted {
				break
			}
		}
	}
	return count
}

func distance(a, b int) int { return max(a-b, b-a) }
