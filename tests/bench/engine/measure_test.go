package engine

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const mega = 1e6

// segments is the number of segments that bucketsearch makes of the corpus before it merges
// them.
const segments = 16

// rounds is the number of times that each query runs; the first round only warms the caches.
const rounds = 5

// measure indexes the corpus with an engine, runs the queries, and returns the figures for the
// table.
func (e engine) measure(b *testing.B) row {
	directory := filepath.Join(b.TempDir(), "index")
	if err := os.Mkdir(directory, 0o755); err != nil {
		b.Fatal(err)
	}
	text := float64(shared.text)
	r := row{name: e.name}
	args := []string{"index", directory}
	if e.own {
		args = append(args, strconv.FormatInt(shared.text/segments, 10))
	}
	u := e.run(b, openCorpus(b), args...)
	r.set(b, "index-MB/cpu-s", text/mega/u.cpu.Seconds())
	r.set(b, "index-MB/s", text/mega/u.wall.Seconds())
	r.set(b, "index-peak-MB", float64(u.memory)/mega)
	if e.own {
		r.set(b, "index-peak/text-in-flight", float64(u.memory)/float64(shared.text/segments))
		e.measureCold(b, &r, directory, "16-segments")
	}
	if e.merges {
		e.measureMerge(b, &r, directory)
	}
	r.set(b, "size/text", float64(size(b, directory))/text)
	u, found := e.ask(b, &r, "query", directory, shared.asked)
	r.set(b, "query-peak-MB", float64(u.memory)/mega)
	r.set(b, "hits", float64(found)/rounds/queries)
	if e.any {
		for words, asked := range shared.sentences {
			e.ask(b, &r, fmt.Sprintf("%d-words", words), directory, asked)
		}
	}
	if e.own {
		e.measureCold(b, &r, directory, "1-segment")
	}
	return r
}

// ask runs each of the queries (one per line) as many times as rounds says. It returns the usage,
// and the number of results of all rounds together. It also sets two figures: the median and the
// 99th percentile of the times that the queries took. The names of both figures begin with the
// given name. Times of the first round are left out, because that round only warms the caches.
func (e engine) ask(b *testing.B, r *row, name, directory, asked string) (u usage, found int) {
	b.Helper()
	u = e.run(b, strings.NewReader(strings.Repeat(asked, rounds)), "query", directory)
	took, found := latencies(b, u.out)
	took = took[len(took)/rounds:]
	slices.Sort(took)
	r.set(b, name+"-p50-ms", took[len(took)/2].Seconds()*1000)
	r.set(b, name+"-p99-ms", took[len(took)*99/100].Seconds()*1000)
	return u, found
}

func (e engine) measureMerge(b *testing.B, r *row, directory string) {
	b.Helper()
	u := e.run(b, openCorpus(b), "merge", directory)
	var bytes, us float64
	if _, err := fmt.Sscan(u.out, &bytes, &us); err != nil {
		b.Fatalf("%q: %v", u.out, err)
	}
	r.set(b, "merge-MB/s", bytes/us)
	r.set(b, "merge-peak-MB", float64(u.memory)/mega)
}

func openCorpus(b *testing.B) io.Reader {
	b.Helper()
	file, err := os.Open(shared.corpus)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	return file
}

// usage holds the time and memory that a process and its children have used.
type usage struct {
	wall, cpu time.Duration
	memory    int64 // maximum memory of the largest process, in bytes
	out       string
}

func (e engine) run(b *testing.B, stdin io.Reader, args ...string) usage {
	b.Helper()
	cmd := exec.Command(e.command[0], append(e.command[1:len(e.command):len(e.command)], args...)...)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, os.Stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatalf("%s %s: %v", e.name, args[0], err)
	}
	done, most := make(chan struct{}), make(chan int64)
	go func() { most <- watch(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	wall := time.Since(began)
	close(done)
	memory := <-most
	if err != nil {
		b.Fatalf("%s %s: %v", e.name, args[0], err)
	}
	r := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return usage{
		wall:   wall,
		cpu:    time.Duration(r.Utime.Nano() + r.Stime.Nano()),
		memory: memory,
		out:    out.String(),
	}
}

// latencies reads the output of an engine. It returns the time that each query took, and the
// number of results of all queries together.
func latencies(b *testing.B, out string) (took []time.Duration, found int) {
	for line := range strings.Lines(out) {
		var us, n int
		if _, err := fmt.Sscan(line, &us, &n); err != nil {
			b.Fatalf("%q: %v", line, err)
		}
		took, found = append(took, time.Duration(us)*time.Microsecond), found+n
	}
	if len(took) != rounds*queries {
		b.Fatalf("%d answers to %d queries", len(took), rounds*queries)
	}
	return took, found
}

func size(b *testing.B, directory string) (total int64) {
	b.Helper()
	err := filepath.WalkDir(directory, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return total
}
