package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// site serves the site in a process of its own until the benchmark ends.
func site(b *testing.B) string {
	b.Helper()
	sites := os.Getenv("BUCKETSEARCH_SITES")
	if sites == "" {
		b.Fatal("BUCKETSEARCH_SITES is not set: run bash tests/bench/run")
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serving+"="+sites)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(url)
}

// usage is what a process and all its children took.
type usage struct {
	wall, cpu time.Duration
	memory    []sample
	out       string
}

// sample is what the whole process tree held in memory at one moment.
type sample struct {
	at    time.Duration // since the start
	bytes int64
}

// peak returns the most memory held until a moment.
func (u usage) peak(until time.Duration) int64 {
	var most int64
	for _, s := range u.memory {
		if s.at <= until {
			most = max(most, s.bytes)
		}
	}
	return most
}

// measure runs a command to its end.
func measure(b *testing.B, ok func(error) bool, name string, args ...string) usage {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = b.TempDir()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	memory := make(chan []sample)
	go func() { memory <- watch(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	u := usage{wall: time.Since(began), out: out.String()}
	close(done)
	u.memory = <-memory
	if err != nil && (ok == nil || !ok(err)) {
		b.Fatalf("%s: %v\n%s", name, err, u.out)
	}
	r := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	return u
}

// watch samples the memory of the tree below a process.
func watch(pid int, done <-chan struct{}) []sample {
	began := time.Now()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	var samples []sample
	for {
		select {
		case <-done:
			return samples
		case <-ticker.C:
			samples = append(samples, sample{time.Since(began), resident(pid)})
		}
	}
}

func resident(pid int) int64 {
	var total int64
	if statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)); err == nil {
		if fields := strings.Fields(string(statm)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			total = pages * int64(os.Getpagesize())
		}
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				total += resident(n)
			}
		}
	}
	return total
}

func (u usage) report(b *testing.B, pages int) {
	b.ReportMetric(float64(pages), "pages")
	b.ReportMetric(float64(pages)/u.wall.Seconds(), "pages/s")
	b.ReportMetric(u.cpu.Seconds()*1000/float64(pages), "cpu-ms/page")
	b.ReportMetric(float64(u.peak(u.wall))/(1<<20), "peak-MiB")
}
