//go:build !race

package simulation

// Faults happen only at every n-th call.
const (
	deaths = 8  // killed processes
	stride = 12 // other faults

	losses = 120 // loss of generations
	drops  = 120 // partition dropped from the strategy

	revisits = 12 // further divisor for revisits, which take long
)

// usualRuns is the number of seeds that TestSeeds runs without RUNS.
const usualRuns = 24
