package main

import (
	"math"
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/text/language/internal/model"
)

const (
	minWeight    = .05   // smaller weights become 0
	clippedShare = .0005 // of the weights exceed the range of a byte and are cut off there
)

// quantise stores weights as bytes, and those smaller than least as 0. It subtracts the
// median of each row first, because only the differences within a row matter.
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
