package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// watch waits until done is closed, and returns the maximum memory of a process or one of its
// children until then. The kernel's figure for an ended process cannot be used: it includes the
// memory of the process that started it.
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

// peak returns the maximum memory so far of a process or one of its children, in bytes; 0 if
// the process has ended.
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
