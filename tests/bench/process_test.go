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

// site serves the site of the benchmarks in a process of its own until the benchmark ends, and
// returns its address.
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

// usage holds the time and memory that a process and all its children have used.
type usage struct {
	began     time.Time
	wall, cpu time.Duration
	peak      int64 // maximum memory at one moment, in bytes
	out       string
	samples   []sample
}

// sample is the memory of a process tree at one moment, and the processor time that it has used so
// far. Memory that processes share counts once.
type sample struct {
	at    time.Duration // time since the start
	bytes int64
	cpu   time.Duration
}

// until returns the part of the usage from the start of the process to a moment.
func (u usage) until(moment time.Time) usage {
	u.wall, u.cpu, u.peak = moment.Sub(u.began), 0, 0
	for _, s := range u.samples {
		if s.at <= u.wall {
			u.cpu, u.peak = s.cpu, max(u.peak, s.bytes)
		}
	}
	return u
}

// measure runs a command until it ends, and returns its usage. If the command fails, a callback
// reports whether the error is accepted; without a callback, no error is accepted.
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
	samples := make(chan []sample)
	go func() { samples <- watch(cmd.Process.Pid, began, done) }()
	err := cmd.Wait()
	u := usage{began: began, wall: time.Since(began), out: out.String()}
	close(done)
	u.samples = <-samples
	for _, s := range u.samples {
		u.peak = max(u.peak, s.bytes)
	}
	if err != nil && (ok == nil || !ok(err)) {
		b.Fatalf("%s: %v\n%s", name, err, u.out)
	}
	r := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	return u
}

// watch takes samples of a process and its children until done is closed.
func watch(pid int, began time.Time, done <-chan struct{}) []sample {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	var samples []sample
	for {
		select {
		case <-done:
			return samples
		case <-ticker.C:
			s := sample{at: time.Since(began)}
			s.add(pid)
			samples = append(samples, s)
		}
	}
}

// clockTick is the unit of processor time in /proc on present Linux systems.
const clockTick = 10 * time.Millisecond

// add adds the memory and time of a process and its children, and the time of ended children.
func (s *sample) add(pid int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return // the process has ended
	}
	_, after, _ := strings.Cut(string(stat), ") ") // the fields behind the name, which begin with the third one
	if fields := strings.Fields(after); len(fields) > 15 {
		for _, field := range fields[11:15] { // utime, stime, cutime, cstime
			ticks, _ := strconv.ParseInt(field, 10, 64)
			s.cpu += time.Duration(ticks) * clockTick
		}
	}
	memory, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // empty if the process has ended
	if _, shared, has := bytes.Cut(memory, []byte("\nPss:")); has {
		kilobytes, _ := strconv.ParseInt(string(bytes.Fields(shared)[0]), 10, 64)
		s.bytes += kilobytes << 10
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				s.add(n)
			}
		}
	}
}

func resident(pid int) int64 {
	var s sample
	s.add(pid)
	return s.bytes
}

func (u usage) report(b *testing.B, pages int) {
	b.ReportMetric(float64(pages), "pages")
	b.ReportMetric(u.rate(pages), "pages/s")
	b.ReportMetric(u.millis(pages), "cpu-ms/page")
	b.ReportMetric(float64(u.peak)/(1<<20), "peak-MiB")
}

func (u usage) rate(pages int) float64 { return float64(pages) / u.wall.Seconds() }

// millis returns the processor time per page in milliseconds.
func (u usage) millis(pages int) float64 { return u.cpu.Seconds() * 1000 / float64(pages) }
