//go:build race

package simulation

// What befalls calls befalls one of so many: the race detector is for races,
// and takes its time.
const (
	deaths = 60
	stride = 60

	losses = 900 // of generations
	drops  = 900 // of partitions

	revisits = 2
)

// usualRuns is how many seeds are tried unless told otherwise.
const usualRuns = 3
