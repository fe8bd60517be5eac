package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// watch observes a process and its descendants until done is closed. It returns the largest memory
// in bytes that any one of them has had. It measures while they run. The peak that the kernel reports
// when a process has ended is of no use: just after the fork, a process has the memory of its parent,
// which may be more than it ever needs itself.
func watch(pid int, done <-chan struct{}) (most int64) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return most
		case <-ticker.C:
			most = max(most, peak(pid))
		}
	}
}

// peak looks at a process and all its descendants. It returns the largest memory in bytes that any
// one of them has had so far; it adds nothing up. If the process has ended, it returns 0.
func peak(pid int) (most int64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, after, found := strings.Cut(string(status), "VmHWM:"); found {
		if _, err := fmt.Sscan(after, &most); err == nil {
			most <<= 10
		}
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(children)) {
			var n int
			if _, err := fmt.Sscan(child, &n); err == nil {
				most = max(most, peak(n))
			}
		}
	}
	return most
}
