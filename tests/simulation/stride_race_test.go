//go:build race

package simulation

// What befalls calls befalls one of so many: the race detector is for races,
// and takes its time.
const (
	deaths = 40
	stride = 40

	revisits = 2
)

// usualRuns is how many seeds are tried unless told otherwise.
const usualRuns = 4
