package segment

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Rank is the PageRank of a document, divided by the mean of all pages, as a code of one byte on a
// logarithmic scale: a code that is higher by 8 stands for twice the rank. The code 0 (NoRank) is
// that of a document that was not ranked.
//
//	code    1      33    41     255
//	rank    1/16   1     2      1/16 · 2^31.75
type Rank uint8

// NoRank says that a document was not ranked.
const NoRank Rank = 0

const (
	rankSteps = 8  // difference between the codes of a rank and of twice this rank
	rankOne   = 33 // code of the mean rank
)

// RankOf returns the code of a rank; relative is the rank divided by the mean rank, and
// must be positive.
func RankOf(relative float64) Rank {
	code := math.Round(rankSteps*math.Log2(relative)) + rankOne
	return Rank(min(max(code, 1), math.MaxUint8))
}

// EncodeRanks returns the bytes of an overlay (an object beside a segment) with the ranks of the
// segment's documents: ranks[doc] is the rank of document doc.
func EncodeRanks(ranks []Rank) ([]byte, error) {
	if len(ranks) > MaxDocuments {
		return nil, fmt.Errorf("cannot encode ranks of %d documents: at most %d", len(ranks), MaxDocuments)
	}
	b := append(make([]byte, 0, len(overlayMagic)+len(ranks)+16), overlayMagic...)
	b = append(b, byte(ranksKind))
	b = binary.AppendUvarint(b, uint64(len(ranks)))
	for _, r := range ranks {
		b = append(b, byte(r))
	}
	return seal(b, 0), nil
}

// DecodeRanks returns the ranks in an overlay that EncodeRanks has made. Errors wrap ErrDamaged.
func DecodeRanks(content []byte) ([]Rank, error) {
	fail := func(err error) ([]Rank, error) {
		return nil, fmt.Errorf("cannot read ranks of %d bytes: %w", len(content), err)
	}
	p, err := openOverlay(content, ranksKind)
	if err != nil {
		return fail(err)
	}
	documents := p.number(MaxDocuments)
	if p.failed || uint64(p.left()) != documents {
		return fail(damaged("they do not hold what they tell of"))
	}
	ranks := make([]Rank, documents)
	for i, code := range p.take(int(documents)) {
		ranks[i] = Rank(code)
	}
	return slices.Clip(ranks), nil
}
