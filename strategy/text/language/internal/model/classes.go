package model

import "math"

// Classes is a table: some languages of a script, and the weight of each feature for each
// of them. The code "" is the class of all other languages.
type Classes struct {
	Script  Script
	Words   bool // only whole words are features
	Codes   []string
	Bits    int     // the table has 1<<Bits rows; a hash's high bits choose its row
	Scale   float32 // a weight's unit, in natural log-odds
	Weights []int8  // row by row, one for each class

	rows  []uint64 // Weights + bias, in four lanes of 16 bits in each uint64
	width int      // number of uint64 in a row
}

const (
	bias       = 128
	lanes      = 4
	maxClasses = 64
	maxBits    = 20
)

// pack makes the rows for Scores, which adds four weights at a time.
func (c *Classes) pack() {
	c.width = (len(c.Codes) + lanes - 1) / lanes
	c.rows = make([]uint64, c.width<<c.Bits)
	for i, w := range c.Weights {
		row, class := i/len(c.Codes), i%len(c.Codes)
		c.rows[row*c.width+class/lanes] |= uint64(int(w)+bias) << (class % lanes * 16)
	}
}

// Scores appends the score of each class to dst: the sum of the weights of a text's
// features, in natural log-odds. Only the differences of scores have a meaning.
func (c *Classes) Scores(text string, dst []float64) []float64 {
	var hashes [math.MaxUint16 / (2 * bias)]uint32 // the number of weights that a lane can sum
	var lane [maxClasses / lanes]uint64
	var sums [maxClasses]int
	features := NewReader(text, c.Script, c.Words)
	for {
		n := features.Next(hashes[:])
		if n == 0 {
			break
		}
		acc := lane[:c.width]
		clear(acc)
		for _, h := range hashes[:n] {
			at := int(h>>(32-c.Bits)) * c.width
			row := c.rows[at:][:len(acc)]
			for i := range acc {
				acc[i] += row[i]
			}
		}
		for i, w := range acc {
			for j := range lanes {
				sums[i*lanes+j] += int(uint16(w>>(16*j))) - n*bias
			}
		}
	}
	for i := range c.Codes {
		dst = append(dst, float64(sums[i])*float64(c.Scale))
	}
	return dst
}
