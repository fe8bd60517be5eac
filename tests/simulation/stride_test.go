//go:build !race

package simulation

// stride 1: what befalls calls befalls each of them in turn.
const stride = 1

// usualRuns is how many seeds are tried unless told otherwise.
const usualRuns = 40
