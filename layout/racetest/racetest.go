// Package racetest reduces the rounds of tests that repeat one path many times, when
// they run under the race detector: it makes them ten times slower, and finds the races
// of a path in a few rounds. The script tests/run runs these tests without the race
// detector, too, with all rounds.
package racetest

// Rounds returns all; under the race detector it returns some.
func Rounds[N any](all, some N) N {
	if enabled {
		return some
	}
	return all
}
