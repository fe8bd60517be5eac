package search

import (
	"cmp"
	"slices"
)

// Weights of the bonus of a document that has two neighbouring words of the query near each other.
// The bonus is the score of two phrases (Metzler and Croft, A Markov Random Field Model for Term
// Dependencies, 2005). The first, with Weights.Ordered, is the two words exactly as in the query. The
// second, with Weights.Nearby, allows any order: its slop is nearSlop (see MaxSlop). A phrase scores
// like a word whose idf is the sum of the idfs of its words, times the weight.
const (
	nearSlop = 6
	// overlapWeight is a further factor of a phrase's weight if its two words are overlapping pairs
	// of characters of a script without spaces: AB and BC of the text ABC. The phrase says little,
	// because most texts with both pairs have them next to each other.
	overlapWeight = 0.1
	// runWeight is a further factor of a phrase's weight if the phrase is a run of characters of a
	// script without spaces, such as two words copied from a page. Far fewer texts contain the run
	// than contain all its pairs of characters somewhere, so it is strong evidence.
	runWeight = 2
	// maxRun is the greatest number of pairs in a run of characters of a script without spaces
	// that is searched as one phrase. A longer run is a sentence, which stands in hardly any other
	// text.
	maxRun = 12
)

// weighNear sets the weights of the phrases of p.near, and removes all but the phrases with the
// rarest words. It leaves at most 2·nearPairs phrases, since most pairs of words have two.
func (p *plan) weighNear() {
	for _, ph := range p.near {
		ph.weight = p.weights.Ordered
		if ph.slop > 0 {
			ph.weight = p.weights.Nearby
		}
		ph.weight *= ph.rarity()
		switch {
		case ph.overlap:
			ph.weight *= overlapWeight
		case ph.run:
			ph.weight *= runWeight
		}
	}
	if len(p.near) > 2*nearPairs {
		slices.SortStableFunc(p.near, func(a, b *queryPhrase) int { return cmp.Compare(b.rarity(), a.rarity()) })
		p.near = p.near[:2*nearPairs]
	}
}

// maxNearest is the greatest number of matches that are examined for words near each other,
// including those that tie with the last.
const maxNearest = 2 * nearest

// examined returns the number of best matches that are examined: the first 100 (nearest), and all
// further matches with the same score as the hundredth, so that the result does not depend on the
// order of equal scores. If all these together are more than maxNearest, only the matches with higher
// scores than the hundredth are examined.
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

// addNear adds the bonus for words near each other to the scores of the best matches, and sorts
// them again. The parameter best must be sorted by score.
func (s *search) addNear(ctx deadline, best []match) error {
	n := examined(best)
	best = best[:n]
	if n == 0 || s.query.Size == 0 {
		return nil
	}
	// A match that stays below the page even with the bonus needs none.
	least := best[min(n, s.border())-1].score
	var may []match
	var places []int
	for i, f := range best {
		if f.near > 0 && f.score+f.near >= least {
			may = append(may, f)
			places = append(places, i)
		}
	}
	if len(may) == 0 {
		return nil
	}
	found, err := s.occurring(ctx, may, s.plan.near)
	if err != nil {
		return err
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
		sum += s.statistics.bm25f(ph.weight, &found[i].freq, &found[i].length)
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
//	at          for each word, its distance from the first word in the phrase
//	slop        greatest sum by which distances between words may differ from those in the phrase
//	scratch     memory for reuse: the second result of an earlier call, or nil
//
// Two words cannot have the same position, and each position of the first word counts at most once.
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
// the words, and gap is their distance in the phrase. An occurrence of the first word counts if the
// distance to some occurrence of the second word is between gap − slop and gap + slop.
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

// reached is a match of the first words of a phrase with slop. It holds the position of the last of
// these words, and the slop of the match: the least sum by which the distances between the words
// differ from their distances in the phrase.
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
