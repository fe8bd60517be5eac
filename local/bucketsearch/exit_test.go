package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// TestExitCodes checks the code of each kind of error. Other tests run commands that fail in these
// ways.
func TestExitCodes(t *testing.T) {
	running := t.Context()
	stopped, stop := context.WithCancel(running)
	stop()
	seen := make(map[exitCode]bool)
	for _, c := range []struct {
		err   error
		ctx   context.Context
		begun bool
		want  exitCode
	}{
		{nil, running, true, exitDone},
		{nil, running, false, exitDone}, // --help
		{errors.New("unknown flag"), running, false, exitUsage},
		{errors.New("no luck"), running, true, exitFailed},
		{misuse(errors.New("--a does not go with --b")), running, true, exitUsage},
		{fmt.Errorf("%w into data", system.ErrEmpty), running, true, exitNothing},
		{errors.Join(endBy(exitDamaged), errors.New("cannot close")), running, true, exitDamaged},
		{fmt.Errorf("cannot search: %w", partition.BooksFault(errors.New("lost"))), running, true, exitDamaged},
		{fmt.Errorf("cannot list: %w", blob.ErrRetryable), running, true, exitUnreachable},
		{fmt.Errorf("cannot list: %w", context.Canceled), stopped, true, exitStopped},
		{fmt.Errorf("cannot list: %w", context.Canceled), running, true, exitFailed}, // nobody has stopped the program
	} {
		if got := codeOf(c.ctx, c.err, c.begun); got != c.want {
			t.Errorf("%v, begun %v: exit code %d, want %d", c.err, c.begun, got, c.want)
		}
		seen[c.want] = true
	}
	help := do(running, "--help").out
	for _, e := range exitCodes {
		if !seen[e.code] || !strings.Contains(help, fmt.Sprintf("%5d  %s\n", e.code, e.meaning)) {
			t.Errorf("the code %d was not tried, or is not in --help:\n%s", e.code, help)
		}
	}
}
