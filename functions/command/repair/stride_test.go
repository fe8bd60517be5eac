//go:build !race

package repair_test

// stride is of how many storage calls one fails.
const stride = 1
