package search

import "github.com/bucketsearch/bucketsearch/layout/segment"

// rankWeight is the most that the rank of a page by its links adds to a score. It is 0 until
// it is fitted.
const rankWeight = 0.0

// rankScores returns what each rank adds to a score: weight·r/(1 + r), of the rank r relative
// to the mean. It grows with the logarithm around the mean and is bounded, as proposed by
// Craswell et al., Relevance Weighting for Query Independent Evidence, 2005.
func rankScores(weight float64) (scores [256]float64) {
	for code := range scores {
		r := segment.Rank(code).Relative()
		scores[code] = weight * r / (1 + r)
	}
	return scores
}

// weighRanks sets how much ranks count: the most that a rank can add to a score.
func (ix *Index) weighRanks(weight float64) {
	ix.rankWeight, ix.rankScores = weight, rankScores(weight)
}

// rank returns what the rank of a document adds to its score.
func (s *scan) rank(doc uint32) float64 {
	if int(doc) >= len(s.ranks) {
		return 0
	}
	return s.rankScores[s.ranks[doc]]
}
