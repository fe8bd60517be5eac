package segment

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Rank is the rank of a document by the links to its page, as a code of one byte: its
// logarithm in steps of an eighth, relative to the mean of all pages. NoRank is the code of
// a document that was not ranked.
//
//	code    1      33    41     255
//	rank    1/16   1     2      1/16 · 2^31.75
type Rank uint8

// NoRank says that a document was not ranked.
const NoRank Rank = 0

const (
	rankSteps = 8  // to an octave
	rankOne   = 33 // the code of the mean
)

// RankOf returns the code of a rank, given relative to the mean. The rank must be positive.
func RankOf(relative float64) Rank {
	code := math.Round(rankSteps*math.Log2(relative)) + rankOne
	return Rank(min(max(code, 1), math.MaxUint8))
}

// EncodeRanks returns the overlay with the ranks of all documents of a segment, by number.
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

// DecodeRanks decodes an overlay with ranks. Errors wrap ErrDamaged.
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
