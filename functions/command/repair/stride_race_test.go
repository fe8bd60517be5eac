//go:build race

package repair_test

// stride is of how many storage calls one fails: the race detector is for
// races, and takes its time.
const stride = 11
