//go:build !race

package faultblob

// stride is of how many calls Each fails one.
const stride = 1
