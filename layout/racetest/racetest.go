// Package racetest reduces the number of rounds of tests that repeat one path many times,
// when they run under the race detector. The race detector makes tests ten times slower,
// and finds the races of a path in a few rounds. The script tests/run runs these tests
// also without the race detector, with all rounds.
package racetest

// Rounds returns the number of rounds of a test: all, or some under the race detector.
func Rounds[N any](all, some N) N {
	if enabled {
		return some
	}
	return all
}
