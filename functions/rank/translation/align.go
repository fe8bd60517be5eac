package translation

import (
	"math"
	"slices"
	"unicode/utf8"
)

// bead is a group of sentences of a text that translates a group of another's: the ranges of their
// numbers, in the first text and in the second.
type bead struct{ from, to, fromOther, toOther int }

// kinds are the kinds of beads: how many sentences of each text belong together, with the penalty
// of the kind, −100·log of its probability (Gale and Church 1993, table 5).
var kinds = []struct {
	of, other int
	penalty   float64
}{
	{1, 1, -100 * math.Log(0.89)},
	{1, 0, -100 * math.Log(0.0099/2)}, {0, 1, -100 * math.Log(0.0099/2)},
	{2, 1, -100 * math.Log(0.089/2)}, {1, 2, -100 * math.Log(0.089/2)},
	{2, 2, -100 * math.Log(0.011)},
}

const (
	variance   = 6.8  // s² of Gale and Church: of the length of a translation, for each character of the sentence
	mostUnlike = 2500 // penalty of lengths that hardly ever translate each other
)

// unlike returns the penalty for translating text of a length by text of another, in characters:
// −100·log of the probability that a translation differs at least as much from the length that is
// expected. ratio is the mean length of a translation by that of its original.
func unlike(length, other, ratio float64) float64 {
	if length == 0 && other == 0 {
		return 0
	}
	mean := (length + other/ratio) / 2
	z := math.Abs(other-length*ratio) / math.Sqrt(variance*mean)
	return min(mostUnlike, -100*math.Log(math.Erfc(z/math.Sqrt2)))
}

// align returns the beads by which a text most probably is translated by another, in the order of
// the texts: those of the least sum of penalties, found by dynamic programming. It takes memory and
// time for len(text)·len(other) cells. Sentences without a translation are in no bead.
func align(text, other []string) (beads []bead) {
	lengths, others := lengthsOf(text), lengthsOf(other)
	ratio := max(0.1, others[len(other)]) / max(0.1, lengths[len(text)])
	width := len(other) + 1
	costs, best := make([]float64, (len(text)+1)*width), make([]uint8, (len(text)+1)*width)
	for i := range len(text) + 1 {
		for j := range width {
			at := i*width + j
			if at == 0 {
				continue
			}
			costs[at] = math.Inf(1)
			for n, kind := range kinds {
				k, l := i-kind.of, j-kind.other
				if k < 0 || l < 0 {
					continue
				}
				cost := costs[k*width+l] + kind.penalty + unlike(lengths[i]-lengths[k], others[j]-others[l], ratio)
				if cost < costs[at] {
					costs[at], best[at] = cost, uint8(n)
				}
			}
		}
	}
	for i, j := len(text), len(other); i > 0 || j > 0; {
		kind := kinds[best[i*width+j]]
		if kind.of > 0 && kind.other > 0 {
			beads = append(beads, bead{i - kind.of, i, j - kind.other, j})
		}
		i, j = i-kind.of, j-kind.other
	}
	slices.Reverse(beads)
	return beads
}

// lengthsOf returns, for each number of sentences from 0, the length of so many first sentences, in
// characters.
func lengthsOf(text []string) []float64 {
	sums := make([]float64, 1, len(text)+1)
	for _, sentence := range text {
		sums = append(sums, sums[len(sums)-1]+float64(utf8.RuneCountInString(sentence)))
	}
	return sums
}
