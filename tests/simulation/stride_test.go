//go:build !race

package simulation

// What befalls calls befalls every call, or one of so many.
const (
	deaths = 1 // the end of a function
	stride = 3 // all else

	revisits = 12 // of those in the revisits, which take long
)

// usualRuns is how many seeds are tried unless told otherwise.
const usualRuns = 40
