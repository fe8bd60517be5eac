package vitals

import (
	"runtime"
	"testing"
)

func TestProcessOfLinux(t *testing.T) {
	p := readProcess()
	if p.Goroutines < 2 || p.Heap < 1<<10 {
		t.Errorf("process %+v", p)
	}
	if runtime.GOOS == "linux" && (p.CPUSeconds <= 0 || p.Resident < 1<<20 || p.Descriptors < 3) {
		t.Errorf("process %+v", p)
	}
}
