//go:build race

package simulation

// What befalls calls befalls one of so many: the race detector is for races,
// and takes its time.
const (
	deaths = 500
	stride = 500

	losses = 1500 // of generations
	drops  = 1500 // of partitions

	revisits = 2
)

// usualRuns is how many seeds are tried unless told otherwise.
const usualRuns = 2
