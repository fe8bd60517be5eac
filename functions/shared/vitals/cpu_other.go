//go:build !unix

package vitals

// cpuSeconds returns 0: on this operating system the processor time is not known.
func cpuSeconds() float64 { return 0 }
