//go:build !race

package simulation

// What befalls calls befalls one of so many.
const (
	deaths = 8  // the end of a function
	stride = 12 // all else

	losses = 120 // of generations
	drops  = 120 // of partitions

	revisits = 12 // of those in the revisits, which take long
)

// usualRuns is how many seeds are tried unless told otherwise.
const usualRuns = 24
