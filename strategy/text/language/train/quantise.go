package main

import (
	"math"
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/text/language/internal/model"
)

const (
	minWeight    = .05   // weights with a smaller absolute value become 0
	clippedShare = .0005 // share of the weights that do not fit into a byte: they become -127 or 127
)

// quantise returns the table c with the given weights, converted to bytes. First it subtracts from
// each weight the median of its row, because only the differences within a row matter. A weight
// whose absolute value is then below the parameter least becomes 0. The others are scaled and
// rounded.
func quantise(c model.Classes, weights []float32, least float64) model.Classes {
	codes := c.Codes
	sizes := make([]float64, len(weights))
	for at := 0; at < len(weights); at += len(codes) {
		row := weights[at : at+len(codes)]
		middle := slices.Sorted(slices.Values(row))[len(row)/2]
		for i := range row {
			row[i] -= middle
			sizes[at+i] = math.Abs(float64(row[i]))
		}
	}
	slices.Sort(sizes)
	scale := sizes[int(float64(len(sizes))*(1-clippedShare))] / math.MaxInt8
	c.Scale = float32(scale)
	c.Weights = make([]int8, len(weights))
	for i, w := range weights {
		if math.Abs(float64(w)) >= least {
			c.Weights[i] = int8(max(-math.MaxInt8, min(math.MaxInt8, math.Round(float64(w)/scale))))
		}
	}
	return c
}
