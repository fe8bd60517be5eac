package model

import (
	"math"
	"sync"
)

// Classes is a table of weights that tells languages of one script apart. Each language is
// a class, and each row has one weight for each class.
type Classes struct {
	Script  Script
	Words   bool     // true: the features are whole words; false: n-grams, too
	Codes   []string // language of each class; "" for the class of all other languages
	Bits    int      // the table has 1<<Bits rows; the high bits of a feature's hash choose its row
	Scale   float32  // value of a weight of 1, in natural log-odds
	Weights []int8   // weights of row 0, of row 1 and so on; in a row, in the order of Codes

	rows   []uint64   // Weights in another form: four weights in a uint64, 16 bits each, with bias added to each
	width  int        // number of uint64 in a row
	caches *sync.Pool // pool of *wordCache
}

const (
	bias       = 128 // number that is added to every weight, so that sums are not negative
	lanes      = 4   // number of weights in a uint64
	maxClasses = 64
	maxBits    = 20
	maxSummed  = math.MaxUint16 / (2 * bias) // greatest number of weights, each with bias added, whose sum fits in 16 bits
)

// pack sets rows, width and caches, with which Scores adds four weights at a time.
func (c *Classes) pack() {
	c.width = (len(c.Codes) + lanes - 1) / lanes
	c.rows = make([]uint64, c.width<<c.Bits)
	c.caches = newWordCaches(c.width)
	for i, w := range c.Weights {
		row, class := i/len(c.Codes), i%len(c.Codes)
		c.rows[row*c.width+class/lanes] |= uint64(int(w)+bias) << (class % lanes * 16)
	}
}

// row returns the weights for a feature with this hash, four in a uint64 (see Classes.rows).
func (c *Classes) row(hash uint32) []uint64 {
	return c.rows[int(hash>>(32-c.Bits))*c.width:][:c.width]
}

// Scores appends the score of each class to dst: the sum of the weights of a text's
// features, in natural log-odds. Only the differences of scores have a meaning.
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

// sum adds up rows of a table, four weights at a time.
type sum struct {
	width int
	// sum of the rows that were added since the last call of spill, which moves this sum to the field
	// sums
	lane [maxClasses / lanes]uint64
	rows int // number of rows in lane, at most maxSummed
	sums [maxClasses]int
}

// add adds the parameter row to the sum. It is one row of the table, or the sum of several rows.
// The parameter n is their number, at most maxSummed.
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
