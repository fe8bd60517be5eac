package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// watch returns the most memory that a process or one of its children has held
// when done is closed. The kernel's own account of an ended process begins with
// the memory of the process that started it.
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

// peak returns the most that a process or one of its children has held so far,
// 0 if it has ended.
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
