// Package racetest makes some tests shorter under the race detector, which makes them ten times
// slower. These tests repeat one path many times; a few rounds are enough to find the races of
// the path. The script tests/run also runs these tests without the race detector, with all
// rounds.
package racetest

// Rounds returns the number of rounds of a test: the first parameter or, under the race detector,
// the second.
func Rounds[N any](all, some N) N {
	if enabled {
		return some
	}
	return all
}
