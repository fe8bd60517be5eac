package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/local/system"
)

// patience is the maximum time that a command may take on a busy machine.
const patience = 5 * time.Minute

// place is a data directory of its own, in which a test runs the program.
type place struct {
	t          testing.TB
	data       string
	where      []string             // flags that say where the bucket and Redis are; nil: in the data directory
	env        []string             // environment variables besides those of this process
	attributes *syscall.SysProcAttr // attributes of the program's processes; nil: those of this process
}

func newPlace(t testing.TB) place { return place{t: t, data: filepath.Join(t.TempDir(), "data")} }

// process is a running program.
type process struct {
	*exec.Cmd
	out, err output
	ended    chan struct{} // closed when the process has ended
	failure  error         // error of Wait; valid when ended is closed
}

// output collects what a process prints.
type output struct {
	mu    sync.Mutex
	bytes bytes.Buffer // text so far; protected by mu
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.String()
}

// start starts a command of the program. If it still runs at the end of the test, it is killed.
func (p place) start(command string, args ...string) *process {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	p.t.Cleanup(cancel)
	run := &process{ended: make(chan struct{})}
	run.Cmd = exec.CommandContext(ctx, program, slices.Concat([]string{command, "--data", p.data}, p.where, args)...)
	run.Env = append(os.Environ(), p.env...)
	run.SysProcAttr = p.attributes
	run.Stdout, run.Stderr = &run.out, &run.err
	if err := run.Start(); err != nil {
		p.t.Fatalf("cannot start %s: %v", command, err)
	}
	go func() {
		run.failure = run.Wait()
		close(run.ended)
	}()
	p.t.Cleanup(func() {
		cancel()
		<-run.ended
	})
	return run
}

// wait waits for the end of the process, and returns its output.
func (r *process) wait() (string, error) {
	<-r.ended
	if r.failure != nil {
		return r.out.String(), fmt.Errorf("%v: %w\n%s%s", r.Args[1:], r.failure, r.out.String(), r.err.String())
	}
	return r.out.String(), nil
}

// run runs a command until it ends, and returns its output.
func (p place) run(command string, args ...string) (string, error) {
	p.t.Helper()
	return p.start(command, args...).wait()
}

// must runs a command, fails the test if the command fails, and returns its output.
func (p place) must(command string, args ...string) string {
	p.t.Helper()
	out, err := p.run(command, args...)
	if err != nil {
		p.t.Fatalf("%v\nlog of %s:\n%s", err, p.data, p.logTail())
	}
	return out
}

// crawling returns the arguments for a crawl of loopback addresses without a delay.
func crawling(more ...string) []string {
	return append([]string{"--allow-private", "--delay", "0"}, more...)
}

// crawl runs the command crawl on loopback addresses, fails the test if it fails, and returns
// its output.
func (p place) crawl(args ...string) string {
	p.t.Helper()
	return p.must("crawl", crawling(args...)...)
}

// verify runs the command verify, and fails the test if it finds a problem.
func (p place) verify() {
	p.t.Helper()
	p.must("verify")
}

// status returns what status --json prints.
func (p place) status(args ...string) system.Status {
	p.t.Helper()
	return decode[system.Report](p.t, p.must("status", append(args, "--json")...)).Status
}

func decode[T any](t testing.TB, text string) T {
	t.Helper()
	var value T
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("cannot read %q: %v", text, err)
	}
	return value
}

// logTail returns the last lines of the log of a failed run.
func (p place) logTail() string {
	content, err := os.ReadFile(filepath.Join(p.data, "log.jsonl"))
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(content, []byte("\n"))
	return string(bytes.Join(slices.Clone(lines[max(0, len(lines)-20):]), []byte("\n")))
}
