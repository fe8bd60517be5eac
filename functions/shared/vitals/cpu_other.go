//go:build !unix

package vitals

// cpuSeconds returns 0, because this system does not tell the processor time.
func cpuSeconds() float64 { return 0 }
