// Package racetest lets tests that repeat one path many times repeat it less
// often under the race detector, which makes them ten times slower and has seen
// a path's races after a few rounds. The script tests/run runs the packages that
// do so without the race detector as well, where every round is made.
package racetest

// Rounds returns all, or only some under the race detector.
func Rounds[N any](all, some N) N {
	if enabled {
		return some
	}
	return all
}
