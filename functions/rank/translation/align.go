package translation

import (
	"math"
	"slices"
	"unicode/utf8"
)

// bead is a group of successive sentences of a text, and the group of sentences of another text
// that translates it. The first group has the indexes from, …, to−1, the second fromOther, …,
// toOther−1.
type bead struct{ from, to, fromOther, toOther int }

// kinds are the possible sizes of a bead: how many sentences it has of the first text (field of),
// and of the other one (field other). Each kind has a penalty, which is −100·log of its probability
// (Gale and Church 1993, table 5).
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
	// s² of Gale and Church: variance of the length of a translation, for each character of the
	// original
	variance   = 6.8
	mostUnlike = 2500 // greatest penalty, for lengths so different that the texts hardly translate each other
)

// unlike returns the penalty for taking one text as the translation of another, by their lengths.
// The parameters length and other are the lengths of the original and of the translation in
// characters; ratio is the mean length of translations divided by that of their originals. The
// penalty is −100·log of the probability that the length of a translation differs from the expected
// one by at least as much as other does, and at most mostUnlike.
func unlike(length, other, ratio float64) float64 {
	if length == 0 && other == 0 {
		return 0
	}
	mean := (length + other/ratio) / 2
	z := math.Abs(other-length*ratio) / math.Sqrt(variance*mean)
	return min(mostUnlike, -100*math.Log(math.Erfc(z/math.Sqrt2)))
}

// align divides two texts, each given as its sentences, into beads: groups of sentences that
// probably translate each other. By dynamic programming it finds the division with the least sum of
// penalties. The beads are in the order of the texts. A sentence without a translation is in no
// bead. Memory and time grow with len(text)·len(other).
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

// lengthsOf returns the lengths in characters of all beginnings of a text: element i is the length
// of the first i sentences together, so that element 0 is 0.
func lengthsOf(text []string) []float64 {
	sums := make([]float64, 1, len(text)+1)
	for _, sentence := range text {
		sums = append(sums, sums[len(sums)-1]+float64(utf8.RuneCountInString(sentence)))
	}
	return sums
}
