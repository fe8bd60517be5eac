//go:build !race

package simulation

// Some tests repeat a simulation with one fault, which comes at a later call in each run. These
// constants say by how many calls the fault moves from one run to the next. The smaller they are, the
// more runs there are. The environment variable STRIDE replaces all of them but revisits.
const (
	deaths = 14 // each run kills a process at a call, this many calls later than in the run before
	stride = 20 // each run has one fault, such as a failed call, this many calls later than in the run before

	losses = 200 // each run loses manifests at a storage call, this many calls later than in the run before
	drops  = 200 // each run changes a strategy at a storage call, this many calls later than in the run before

	revisits = 10 // tests of a second crawl multiply the numbers above by this, because each of their runs takes long
)

// usualRuns is the number of seeds that TestSeeds runs if RUNS is not set.
const usualRuns = 16
