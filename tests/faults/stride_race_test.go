//go:build race

package faults

// stride spares time under the race detector: each storage call meets one of
// the four tests instead of all of them.
const stride = 4
