package bench

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/tests/programs"
)

// Settings of BenchmarkRecover. It crawls as many hosts as recoverHosts says; each takes answerTime
// for an answer. The crawl runs for the time warmUp, then a process is killed, and the crawl runs
// for the time watchAfter. The requests after the kill are compared with those in the time
// watchBefore just before it.
const (
	recoverHosts = 8
	answerTime   = 20 * time.Millisecond
	warmUp       = 6 * time.Second
	watchBefore  = 3 * time.Second
	watchAfter   = 12 * time.Second
)

// BenchmarkRecover kills one process of a crawl of eight hosts, and reports in seconds:
//
//   - s-pause: the longest time without any request
//   - s-slow: the longest time in which the rate of requests was below half of that before the kill
//   - s-lost: 10 − (number of requests in the ten seconds after the kill) / (requests per second
//     before the kill), at least 0
func BenchmarkRecover(b *testing.B) {
	if err := programs.Functions.In(filepath.Dir(program)); err != nil {
		b.Fatal(err)
	}
	for _, test := range []struct {
		victim string // beginning of the name of the program whose process is killed
		flags  []string
	}{
		{"bucketsearch", nil}, // the object store
		{"redis", nil},
		{"bucketsearch", []string{"--isolated"}},
		{"redis", []string{"--isolated"}},
		{"schedule", []string{"--isolated"}},
		{"fetch", []string{"--isolated"}},
		{"pack", []string{"--isolated"}},
		{"sweep", []string{"--isolated"}},
	} {
		b.Run(strings.Join(append([]string{test.victim}, test.flags...), ""), func(b *testing.B) {
			for b.Loop() {
				w := newWeb(b)
				args := append([]string{"crawl", "--data", filepath.Join(b.TempDir(), "data"), "--delay", "0", "--allow-private"}, test.flags...)
				once := exec.Command(program, append(args, w.seeds...)...)
				if err := once.Start(); err != nil {
					b.Fatal(err)
				}
				time.Sleep(warmUp) // the beginning of the crawl is not measured
				killed := killOne(b, once.Process.Pid, test.victim)
				time.Sleep(watchAfter)
				_ = once.Process.Kill()
				_ = once.Wait() // "signal: killed"
				w.report(b, killed)
			}
		})
	}
}

// killOne kills the child process whose program has a name with the given beginning. It returns
// the time of the kill.
func killOne(b *testing.B, parent int, name string) time.Time {
	b.Helper()
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(children)) {
			path, _ := os.Readlink("/proc/" + child + "/exe")
			var pid int
			if _, err := fmt.Sscan(child, &pid); err == nil && strings.HasPrefix(filepath.Base(path), name) {
				at := time.Now()
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					b.Fatal(err)
				}
				return at
			}
		}
	}
	b.Fatalf("there is no process %s to kill", name)
	return time.Time{}
}

// web serves hosts that have more pages than the crawl can request.
type web struct {
	seeds []string

	mu    sync.Mutex
	asked []time.Time // times of all requests; protected by mu
}

func newWeb(b *testing.B) *web {
	b.Helper()
	w := new(web)
	port := "0"
	for i := range recoverHosts {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:%s", i+1, port))
		if err != nil {
			b.Fatal(err)
		}
		_, port, _ = net.SplitHostPort(listener.Addr().String())
		server := &http.Server{Handler: w}
		go func() { _ = server.Serve(listener) }()
		b.Cleanup(func() { _ = server.Close() })
		w.seeds = append(w.seeds, "http://"+listener.Addr().String()+"/")
	}
	return w
}

// ServeHTTP serves a tree of pages of ten links each.
func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked = append(w.asked, time.Now())
	w.mu.Unlock()
	time.Sleep(answerTime)
	var n int
	_, _ = fmt.Sscanf(r.URL.Path, "/%d.html", &n) // number of the page; 0 for the first one
	out.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(out, "<!doctype html><title>Page %d</title><p>Some words of the page %[1]d.", n)
	for i := 10*n + 1; i <= 10*n+10; i++ {
		fmt.Fprintf(out, "<a href=/%d.html>%[1]d</a> ", i)
	}
}

func (w *web) report(b *testing.B, killed time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := float64(w.between(killed.Add(-watchBefore), killed)) / watchBefore.Seconds()
	pause, last := time.Duration(0), killed
	for _, at := range w.asked {
		if at.After(killed) {
			pause, last = max(pause, at.Sub(last)), at
		}
	}
	const window, step = 500 * time.Millisecond, 50 * time.Millisecond
	var slow, longest time.Duration
	for after := time.Duration(0); after <= watchAfter-window; after += step {
		at := killed.Add(after)
		if float64(w.between(at, at.Add(window))) >= before*window.Seconds()/2 {
			slow = -step
		}
		slow += step
		longest = max(longest, slow)
	}
	const cost = 10 * time.Second
	after := float64(w.between(killed, killed.Add(cost)))
	b.ReportMetric(before, "pages/s-before")
	b.ReportMetric(pause.Seconds(), "s-pause")
	b.ReportMetric(longest.Seconds(), "s-slow")
	b.ReportMetric(max(0, cost.Seconds()-after/before), "s-lost")
}

// between returns the number of requests between two times.
func (w *web) between(from, to time.Time) int {
	n := 0
	for _, at := range w.asked {
		if !at.Before(from) && at.Before(to) {
			n++
		}
	}
	return n
}
