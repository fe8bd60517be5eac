package translation

import (
	"math"
	"slices"
	"unicode/utf8"
)

// bead is a group of successive sentences of a text, with the sentences of another text that
// translate the group. The group is text[from:to], and its translation is other[fromOther:toOther].
type bead struct{ from, to, fromOther, toOther int }

// kinds are the possible sizes of a bead, which is a group of successive sentences with its
// translation. In a bead of the kind {2, 1, …}, two sentences of the first text are translated by
// one sentence of the second. The penalty is −100·log of the probability of the kind (Gale and
// Church 1993, table 5).
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
	mostUnlike = 2500 // greatest result of the function unlike, however different the lengths of the two texts are
)

// unlike returns the penalty for taking one text as the translation of another. The parameters are
//
//	length   number of characters of the original
//	other    number of characters of the supposed translation
//	ratio    mean number of characters of translations for each character of the original
//
// So a translation is expected to have length·ratio characters. The penalty is −100·log(p), but at
// most mostUnlike. Here p is the probability that a true translation differs from this expected
// length by at least as much as the supposed translation does.
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
