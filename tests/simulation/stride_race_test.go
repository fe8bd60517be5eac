//go:build race

package simulation

// stride spares time under the race detector, which is for races: faults meet
// one call of so many.
const stride = 40

// usualRuns is how many seeds are tried unless told otherwise.
const usualRuns = 4
