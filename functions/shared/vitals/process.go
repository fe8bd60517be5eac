package vitals

import (
	"bytes"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
)

// Process holds how much of a machine's resources one process uses. A figure that the operating
// system does not provide is 0: resident memory, disk bytes and descriptors are known only on
// Linux, from /proc.
type Process struct {
	// These fields are sums over a period, or since the process began:

	CPUSeconds  float64 `json:"cpu_seconds"`    // processor time that the process used
	Received    int64   `json:"received_bytes"` // bytes received by the process's connections, see Traffic
	Sent        int64   `json:"sent_bytes"`
	DiskRead    int64   `json:"disk_read_bytes"`
	DiskWritten int64   `json:"disk_written_bytes"`

	// These fields are values at one moment:

	Resident    int64 `json:"resident_bytes"` // memory that the process has in use, in bytes
	Heap        int64 `json:"heap_bytes"`     // memory that Go's objects take, in bytes
	Goroutines  int64 `json:"goroutines"`
	Descriptors int64 `json:"descriptors"`
}

// since returns the use of the machine since an earlier reading: the sums in p minus those of the
// earlier reading, and the momentary values of p as they are.
func (p Process) since(earlier Process) Process {
	p.CPUSeconds -= earlier.CPUSeconds
	p.Received -= earlier.Received
	p.Sent -= earlier.Sent
	p.DiskRead -= earlier.DiskRead
	p.DiskWritten -= earlier.DiskWritten
	return p
}

func (p Process) plus(other Process) Process {
	return Process{
		CPUSeconds: p.CPUSeconds + other.CPUSeconds,
		Received:   p.Received + other.Received, Sent: p.Sent + other.Sent,
		DiskRead: p.DiskRead + other.DiskRead, DiskWritten: p.DiskWritten + other.DiskWritten,
		Resident: p.Resident + other.Resident, Heap: p.Heap + other.Heap,
		Goroutines: p.Goroutines + other.Goroutines, Descriptors: p.Descriptors + other.Descriptors,
	}
}

func readProcess() Process {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	p := Process{CPUSeconds: cpuSeconds(), Heap: int64(heap[0].Value.Uint64()), Goroutines: int64(runtime.NumGoroutine())}
	if fields := bytes.Fields(proc("statm")); len(fields) > 1 {
		p.Resident = number(string(fields[1])) * int64(os.Getpagesize())
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.Descriptors = int64(len(open)) - 1 // one of them reads the directory
	}
	for line := range strings.Lines(string(proc("io"))) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "read_bytes":
			p.DiskRead = number(value)
		case "write_bytes":
			p.DiskWritten = number(value)
		}
	}
	return p
}

// proc returns the content of a file in Linux's /proc/self, or nil on other systems.
func proc(name string) []byte {
	content, _ := os.ReadFile("/proc/self/" + name)
	return content
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
