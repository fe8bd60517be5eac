package system

import (
	"fmt"
	"math/rand/v2"
	"os"
)

// processName returns a name for this process that no other process has, on this machine or another.
func processName() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%d-%08x", host, os.Getpid(), rand.Uint32()) // in containers, all processes have the number 1
}
