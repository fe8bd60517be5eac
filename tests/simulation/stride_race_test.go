//go:build race

package simulation

// Some tests repeat a simulation with one fault, which comes at a later call in each run. These
// constants say by how many calls the fault moves from one run to the next. They are large here, so
// that there are few runs, because the race detector is slow. The environment variable STRIDE
// replaces all of them but revisits.
const (
	deaths = 900
	stride = 900

	losses = 2500 // each run loses manifests at a storage call, this many calls later than in the run before
	drops  = 2500 // each run changes a strategy at a storage call, this many calls later than in the run before

	revisits = 2
)

// usualRuns is the number of seeds that TestSeeds runs if RUNS is not set.
const usualRuns = 2
