//go:build unix

package vitals

import (
	"syscall"
	"time"
)

// cpuSeconds returns the processor time that this process has used so far, in seconds.
func cpuSeconds() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}
