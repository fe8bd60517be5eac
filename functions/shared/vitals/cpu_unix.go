//go:build unix

package vitals

import (
	"syscall"
	"time"
)

// cpuSeconds returns the processor time of this process so far.
func cpuSeconds() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}
