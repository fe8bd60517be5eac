//go:build race

package simulation

// Faults happen only at every n-th call: the race detector looks for races, and is slow.
const (
	deaths = 500
	stride = 500

	losses = 1500 // loss of generations
	drops  = 1500 // partition dropped from the strategy

	revisits = 2
)

// usualRuns is the number of seeds that TestSeeds runs without RUNS.
const usualRuns = 2
