package model

import (
	"math"
	"sync"
)

// Classes is a table of weights that tells languages of one script apart. Each language is
// a class, and each row has one weight for each class.
type Classes struct {
	Script  Script
	Words   bool     // true: the features are only whole words; false: whole words and n-grams
	Codes   []string // language of each class; "" for the class of all other languages
	Bits    int      // the table has 1<<Bits rows; the high bits of a feature's hash choose its row
	Scale   float32  // unit of Weights, in natural log-odds: Scale × weight is the log-odds
	Weights []int8   // all weights of row 0, then of row 1 and so on; within a row, in the order of Codes

	// the weights once more, four in each uint64; each takes 16 bits, which hold the sum weight +
	// bias
	rows   []uint64
	width  int        // each row of the table takes this number of elements in the field rows
	caches *sync.Pool // pool of *wordCache
}

const (
	bias       = 128 // number that is added to every weight, so that sums are not negative
	lanes      = 4   // number of weights in a uint64
	maxClasses = 64
	maxBits    = 20
	// a sum of this many values fits in 16 bits in any case; a value is weight + bias
	maxSummed = math.MaxUint16 / (2 * bias)
)

// pack sets the fields rows, width and caches, with which Scores adds four weights at a time.
func (c *Classes) pack() {
	c.width = (len(c.Codes) + lanes - 1) / lanes
	c.rows = make([]uint64, c.width<<c.Bits)
	c.caches = newWordCaches(c.width)
	for i, w := range c.Weights {
		row, class := i/len(c.Codes), i%len(c.Codes)
		c.rows[row*c.width+class/lanes] |= uint64(int(w)+bias) << (class % lanes * 16)
	}
}

// row returns the weights for a feature with this hash, four packed into each uint64 (see
// Classes.rows).
func (c *Classes) row(hash uint32) []uint64 {
	return c.rows[int(hash>>(32-c.Bits))*c.width:][:c.width]
}

// Scores appends a score for each class to dst: the sum of the weights that the text's features
// have for this class, in natural log-odds. A single score has no meaning, only the difference of
// two.
func (c *Classes) Scores(text string, dst []float64) []float64 {
	s := sum{width: c.width}
	if features := NewReader(text, c.Script, c.Words); c.Words || c.Script == Han {
		s.addFeatures(c, features)
	} else {
		s.addWords(c, features)
	}
	s.spill()
	for i := range c.Codes {
		dst = append(dst, float64(s.sums[i])*float64(c.Scale))
	}
	return dst
}

// sum adds up rows of a table of weights, four weights at a time.
type sum struct {
	width int
	// sum of the rows that were added last, four sums of 16 bits in each element. Before a sum
	// overflows, the method spill adds all of them to the field sums, and clears lane.
	lane [maxClasses / lanes]uint64
	rows int // number of rows whose sum is in the field lane, at most maxSummed
	sums [maxClasses]int
}

// add adds a row of the table, or a sum of several rows, to the sum s. The parameter n is the number
// of these rows, at most maxSummed.
func (s *sum) add(row []uint64, n int) {
	if s.rows += n; s.rows > maxSummed {
		s.rows -= n
		s.spill()
		s.rows = n
	}
	acc := s.lane[:len(row)]
	for i := range acc {
		acc[i] += row[i]
	}
}

func (s *sum) spill() {
	for i, w := range s.lane[:s.width] {
		for j := range lanes {
			s.sums[i*lanes+j] += int(uint16(w>>(16*j))) - s.rows*bias
		}
	}
	clear(s.lane[:s.width])
	s.rows = 0
}

// addFeatures adds the rows of all features that the reader returns.
func (s *sum) addFeatures(c *Classes, features Reader) {
	var hashes [maxSummed]uint32
	for n := features.Next(hashes[:]); n > 0; n = features.Next(hashes[:]) {
		for _, h := range hashes[:n] {
			s.add(c.row(h), 1)
		}
	}
}
