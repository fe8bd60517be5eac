//go:build !race

package faults

// stride 1: what befalls storage calls befalls each of them in turn.
const stride = 1
